// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/setting.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "penstock/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// BLAKE3 takes tiles of a power of two of its chunks.
constexpr std::size_t chunk_bytes = 1024;
constexpr std::size_t largest_tile = std::size_t{1} << 30;
/// As long as pipelines have by default, unless they are for latency.
constexpr std::chrono::microseconds longest_borrow_spin{20};
/// Lanes can be as many as producers, of which there may be several values.
constexpr std::string_view many_lanes = "lanes", as_producers = "producers", as_producers_formerly = "threads";

[[noreturn]] void refuse(std::string_view name, std::string const& value, std::string const& remedy) {
  throw Error(ErrorKind::bad_argument, "--" + std::string(name) + " '" + value + "': " + remedy);
}

template <class Value, std::size_t count>
std::string set_word(Value& to, std::string_view name, std::string const& value,
                     std::array<std::pair<std::string_view, Value>, count> const& words) {
  std::string all;
  for (auto const& [word, meaning] : words) {
    if (word == value) {
      to = meaning;
      return value;
    }
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  refuse(name, value, "there are " + all + ".");
}

constexpr std::array fills{std::pair{std::string_view("none"), Fill::none},
                           std::pair{std::string_view("memcpy"), Fill::memory},
                           std::pair{std::string_view("file"), Fill::file}};
constexpr std::array directions{std::pair{std::string_view("in"), Direction::in},
                                std::pair{std::string_view("out"), Direction::out},
                                std::pair{std::string_view("both"), Direction::both}};
constexpr std::array sinks{std::pair{std::string_view("graph"), false}, std::pair{std::string_view("lanes"), true}};
constexpr std::array works{
    std::pair{std::string_view("copy"), Work::copy}, std::pair{std::string_view("transform"), Work::transform},
    std::pair{std::string_view("hash"), Work::hash}, std::pair{std::string_view("busy:Nus"), Work::busy}};

std::string set_work(Setting& setting, std::string const& value) {
  if (!value.starts_with("busy")) return set_word(setting.work, "work", value, works);
  std::string_view number = value;
  number.remove_prefix(4);
  if (number.starts_with(':')) number.remove_prefix(1);
  if (number.ends_with("us")) number.remove_suffix(2);
  std::uint32_t microseconds = 0;
  auto const [end, problem] = std::from_chars(number.data(), number.data() + number.size(), microseconds);
  constexpr std::uint32_t longest = 1'000'000;
  if (problem != std::errc{} || end != number.data() + number.size() || microseconds > longest) {
    refuse("work", value, "say for how long, as in busy:20us, up to a second.");
  }
  setting.work = Work::busy;
  setting.busy = std::chrono::microseconds(microseconds);
  return "busy:" + std::to_string(microseconds) + "us";
}

std::string set_tile(Setting& setting, std::string const& value) {
  std::uint64_t const bytes = parse_size(value);
  if (bytes == 0 || bytes > largest_tile || bytes % sizeof(float) != 0) {
    refuse("tile", value, "give a multiple of 4 bytes, up to 1 GiB.");
  }
  setting.tile = bytes;
  return std::to_string(bytes);
}

}  // namespace

TileShape Setting::shape_of_tile() const {
  if (work == Work::hash) return {.input_bytes = tile, .output_bytes = hashed_bytes};
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

PipelineOptions Setting::options() const {
  if (work == Work::hash) {
    bool const power_of_two = (tile & (tile - 1)) == 0;
    if (!power_of_two || tile < chunk_bytes) {
      throw Error(ErrorKind::bad_argument, "--work hash takes tiles of a power of two of bytes, from 1 KiB on.");
    }
    if (direction != Direction::in && direction != Direction::both) {
      throw Error(ErrorKind::bad_argument, "--work hash has input to read: use --direction in or both.");
    }
  }
  if (pipeline.tuning.transport == Transport::mapped && (work != Work::transform || direction == Direction::in)) {
    throw Error(ErrorKind::bad_argument,
                "--transport mapped takes a stage that reads each byte once and writes what it brings back: use --work "
                "transform with --direction both or out, or --transport automatic.");
  }
  if (fill != Fill::none && direction == Direction::out) {
    throw Error(ErrorKind::bad_argument, "With --direction out tiles have no input: use --fill none.");
  }
  PipelineOptions options = pipeline;
  options.tile = shape_of_tile();
  if (lanes_as_producers) options.lanes = options.producers;
  if (options.tuning.spin) {
    options.tuning.borrow_spin =
        options.aim == Aim::latency ? *options.tuning.spin : std::min(*options.tuning.spin, longest_borrow_spin);
  }
  options.parallel_sink = options.consumers > 1;
  return options;
}

std::string AxisKind::help(std::string const& value) const {
  if (option == nullptr) return std::string(sentence) + ". Default: " + (value.empty() ? preset : value);
  std::string text = option->help(value.empty() && option->kind == OptionKind::size ? preset : value);
  if (name == many_lanes) {
    text.insert(option->sentence.size(), "; '" + std::string(as_producers) + "' for as many as there are of these");
  }
  return text;
}

std::string AxisKind::offered() const {
  return option == nullptr ? std::string(words) : option->words != nullptr ? option->words() : "";
}

std::vector<AxisKind> const& axis_kinds() {
  static std::vector<AxisKind> const all = [] {
    std::vector<AxisKind> kinds;
    for (OptionRow const& row : option_table()) {
      if (!row.in(named_in::axes)) continue;
      kinds.push_back(
          {.name = row.name, .preset = row.kind == OptionKind::size ? "1MiB" : row.preset(), .option = &row});
    }
    kinds.push_back({.name = "work",
                     .preset = "transform",
                     .sentence = "What is computed: copy (nothing), transform, busy:20us, hash",
                     .words = "copy, transform, busy:20us, hash"});
    kinds.push_back({.name = "fill",
                     .preset = "none",
                     .sentence = "What producers do: none, memcpy, file (needs --file)",
                     .words = "none, memcpy, file"});
    kinds.push_back({.name = "direction",
                     .preset = "both",
                     .sentence = "Which way tiles go: in, out, both",
                     .words = "in, out, both"});
    kinds.push_back({.name = "sink",
                     .preset = "graph",
                     .sentence = "Where results are taken: graph (consumers), lanes (at once)",
                     .words = "graph, lanes"});
    return kinds;
  }();
  return all;
}

std::string set(Setting& setting, std::string_view name, std::string const& value) {
  if (name == many_lanes) {
    setting.lanes_as_producers = value == as_producers || value == as_producers_formerly;
    if (setting.lanes_as_producers) return std::string(as_producers);
  }
  if (name == "device") return setting.device = value;
  if (name == "work") return set_work(setting, value);
  if (name == "fill") return set_word(setting.fill, name, value, fills);
  if (name == "direction") return set_word(setting.direction, name, value, directions);
  if (name == "sink") return set_word(setting.pipeline.tuning.sink_on_lanes, name, value, sinks);
  OptionRow const* const row = find_option(name);
  if (row == nullptr || !row->in(named_in::axes)) {
    throw Error(ErrorKind::bad_argument, "There is no axis '" + std::string(name) + "'.");
  }
  if (row->kind == OptionKind::size) return set_tile(setting, value);
  row->set(setting.pipeline, value);
  return row->text(setting.pipeline);
}

}  // namespace penstock::measure
