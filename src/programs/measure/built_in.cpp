// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/built_in.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// BLAKE3 takes tiles of a power of two of its chunks.
constexpr std::size_t chunk_bytes = 1024;
constexpr std::string_view busy_begins = "busy:", busy_ends = "us";

constexpr std::array fills{
    std::pair{std::string_view("none"), Fill::none}, std::pair{std::string_view("memcpy"), Fill::memory},
    std::pair{std::string_view("file"), Fill::file}, std::pair{std::string_view("busy:20us"), Fill::busy}};
constexpr std::array directions{std::pair{std::string_view("in"), Direction::in},
                                std::pair{std::string_view("out"), Direction::out},
                                std::pair{std::string_view("both"), Direction::both}};
constexpr std::array works{
    std::pair{std::string_view("copy"), Work::copy}, std::pair{std::string_view("transform"), Work::transform},
    std::pair{std::string_view("hash"), Work::hash}, std::pair{std::string_view("busy:20us"), Work::busy}};

[[noreturn]] void refuse(std::string const& why) {
  throw Error(ErrorKind::bad_argument, why);
}

template <class Value, std::size_t count>
Value meaning_of(std::string_view value, std::array<std::pair<std::string_view, Value>, count> const& words) {
  std::string all;
  for (auto const& [word, meaning] : words) {
    if (word == value) return meaning;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  refuse("there are " + all + ".");
}

/// Longest times of a kernel, and of a producer, which fills up to 32 tiles between two looks at the clock.
constexpr std::chrono::microseconds longest_work = std::chrono::seconds(1),
                                    longest_fill = std::chrono::milliseconds(100);

/// The time in "busy:20us".
std::chrono::microseconds busy_of(std::string_view value, std::chrono::microseconds longest) {
  value.remove_prefix(busy_begins.size() - 1);
  if (value.starts_with(':')) value.remove_prefix(1);
  if (value.ends_with(busy_ends)) value.remove_suffix(busy_ends.size());
  auto const microseconds = whole_number_of(value, static_cast<std::uint64_t>(longest.count()));
  if (!microseconds) refuse("give whole microseconds, as in busy:20us, up to " + std::to_string(longest.count()) + ".");
  return std::chrono::microseconds(*microseconds);
}

bool is_busy(std::string_view value) {
  return value.starts_with("busy");
}

/// A word of `words`, or a time to be busy for, as results have it.
template <class Words>
std::string read_word(std::string const& value, Words const& words, std::chrono::microseconds longest) {
  if (is_busy(value))
    return std::string(busy_begins) + std::to_string(busy_of(value, longest).count()) + std::string(busy_ends);
  meaning_of(value, words);
  return value;
}

/// Throws: Error of kind bad_argument, if no pipeline can do all that.
TileShape shape_of(JobPoint const& point) {
  BuiltIn const wanted(point.values);
  std::size_t const tile = point.tile_bytes;
  Direction const direction = wanted.direction;
  if (wanted.work == Work::hash) {
    bool const power_of_two = (tile & (tile - 1)) == 0;
    if (!power_of_two || tile < chunk_bytes)
      refuse("--work hash takes tiles of a power of two of bytes, from 1 KiB on.");
    if (direction != Direction::in && direction != Direction::both)
      refuse("--work hash has input to read: use --direction in or both.");
  }
  if (point.pipeline.tuning.transport == Transport::mapped &&
      (wanted.work != Work::transform || direction == Direction::in)) {
    refuse(
        "--transport mapped takes a stage that reads each byte once and writes what it brings back: use --work "
        "transform with --direction both or out, or --transport automatic.");
  }
  if (wanted.fill != Fill::none && direction == Direction::out)
    refuse("With --direction out tiles have no input: use --fill none.");
  if (wanted.work == Work::hash) return {.input_bytes = tile, .output_bytes = hashed_bytes};
  switch (direction) {
    case Direction::in:
      return {.input_bytes = tile};
    case Direction::out:
      return {.output_bytes = tile};
    case Direction::both:
      break;
  }
  return {.input_bytes = tile, .output_bytes = tile, .in_place = true};
}

Alone alone(JobPoint const& point) {
  BuiltIn const wanted(point.values);
  return {.fill = wanted.fill != Fill::none, .stage = wanted.work != Work::copy};
}

/// A missing file is reported before anything is measured.
void check(JobPoint const& point) {
  BuiltIn const wanted(point.values);
  if (wanted.fill == Fill::file) Filler(wanted.fill, point.tile_bytes, wanted.file);
}

}  // namespace

BuiltIn::BuiltIn(JobValues const& values) {
  if (std::string const& word = values.text("work"); is_busy(word)) {
    work = Work::busy;
    busy = busy_of(word, longest_work);
  } else {
    work = meaning_of(word, works);
  }
  if (std::string const& word = values.text("fill"); is_busy(word)) {
    fill = Fill::busy;
    fill_busy = busy_of(word, longest_fill);
  } else {
    fill = meaning_of(word, fills);
  }
  direction = meaning_of(values.text("direction"), directions);
  file = values.text("file");
}

Job const& built_in_job() {
  static Job const job{
      .options =
          {{.name = "work",
            .sentence = "What is computed: copy (nothing), transform, busy:20us, hash",
            .preset = "transform",
            .offered = "copy, transform, busy:20us, hash",
            .read = [](std::string const& value) { return read_word(value, works, longest_work); }},
           {.name = "fill",
            .sentence =
                "What producers do with each tile: none (nothing), memcpy, file (needs --file), busy:20us (compute)",
            .preset = "none",
            .offered = "none, memcpy, file, busy:20us",
            .read = [](std::string const& value) { return read_word(value, fills, longest_fill); }},
           {.name = "direction",
            .sentence = "Which way tiles go: in, out, both",
            .preset = "both",
            .offered = "in, out, both",
            .read = [](std::string const& value) { return meaning_of(value, directions), value; }},
           {.name = "file",
            .sentence = "What --fill file reads",
            .type = "FILE",
            .listed = false,
            .names_input = true}},
      .shape = shape_of,
      .check = check,
      .alone = alone,
      .parallel_sink = true};
  return job;
}

}  // namespace penstock::measure
