// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/setting.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "penstock/core/number_text.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// BLAKE3 takes tiles of a power of two of its chunks.
constexpr std::size_t chunk_bytes = 1024;
constexpr std::size_t largest_tile = std::size_t{1} << 30;
/// As long as pipelines have by default, unless they are for latency.
constexpr std::chrono::microseconds longest_borrow_spin{20};

[[noreturn]] void refuse(std::string_view name, std::string const& value, std::string const& remedy) {
  throw Error(ErrorKind::bad_argument, "--" + std::string(name) + " '" + value + "': " + remedy);
}

std::string set_count(unsigned& to, std::string_view name, std::string const& value, unsigned most) {
  auto const [end, problem] = std::from_chars(value.data(), value.data() + value.size(), to);
  if (problem != std::errc{} || end != value.data() + value.size() || to > most) {
    refuse(name, value, "give whole numbers from 1 to " + std::to_string(most) + ", or 0 for what suits the machine.");
  }
  return std::to_string(to);
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

constexpr std::array modes{std::pair{std::string_view("default"), StreamMode::thread_default},
                           std::pair{std::string_view("own"), StreamMode::own}};
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

std::string set_spin(Setting& setting, std::string const& value) {
  setting.spin.reset();
  if (value == "default") return value;
  std::uint32_t microseconds = 0;
  auto const [end, problem] = std::from_chars(value.data(), value.data() + value.size(), microseconds);
  constexpr std::uint32_t longest = 1'000'000;
  if (problem != std::errc{} || end != value.data() + value.size() || microseconds > longest) {
    refuse("spin", value, "give microseconds, up to 1000000, or default for what suits the device.");
  }
  setting.spin = std::chrono::microseconds(microseconds);
  return std::to_string(microseconds);
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
  if (transport == Transport::mapped && (work != Work::transform || direction == Direction::in)) {
    throw Error(ErrorKind::bad_argument,
                "--transport mapped takes a stage that reads each byte once and writes what it brings back: use --work "
                "transform with --direction both or out, or --transport automatic.");
  }
  if (fill != Fill::none && direction == Direction::out) {
    throw Error(ErrorKind::bad_argument, "With --direction out tiles have no input: use --fill none.");
  }
  PipelineOptions options;
  options.tile = shape_of_tile();
  options.producers = threads;
  options.lanes = lanes_as_threads ? threads : lanes;
  options.consumers = consumers;
  options.slots = depth;
  options.batch = batch;
  options.tiles = tiles;
  options.aim = aim;
  options.spin = spin;
  if (spin) options.borrow_spin = aim == Aim::latency ? *spin : std::min(*spin, longest_borrow_spin);
  options.signal = signal;
  options.streams = streams;
  options.shape = shape;
  options.transport = transport;
  options.graphs = graphs;
  options.sink_on_lanes = sink_on_lanes;
  options.parallel_sink = consumers > 1;
  return options;
}

std::string set(Setting& setting, std::string_view name, std::string const& value) {
  if (name == "threads") return set_count(setting.threads, name, value, PipelineOptions::most_threads);
  if (name == "lanes") {
    setting.lanes_as_threads = value == "threads";
    if (setting.lanes_as_threads) return value;
    return set_count(setting.lanes, name, value, PipelineOptions::most_threads);
  }
  if (name == "consumers") return set_count(setting.consumers, name, value, PipelineOptions::most_threads);
  if (name == "depth") return set_count(setting.depth, name, value, Pool::max_tiles);
  if (name == "batch") return set_count(setting.batch, name, value, Pool::max_tiles);
  if (name == "tiles") return set_count(setting.tiles, name, value, Pool::max_tiles);
  if (name == "tile") return set_tile(setting, value);
  if (name == "device") return setting.device = value;
  if (name == "spin") return set_spin(setting, value);
  if (name == "work") return set_work(setting, value);
  if (name == "streams") return set_word(setting.streams, name, value, modes);
  if (name == "fill") return set_word(setting.fill, name, value, fills);
  if (name == "direction") return set_word(setting.direction, name, value, directions);
  if (name == "sink") return set_word(setting.sink_on_lanes, name, value, sinks);
  if (name == "signal") {
    setting.signal = parse_signal_kind(value);
    return value;
  }
  if (name == "shape") {
    setting.shape = parse_lane_shape(value);
    return value;
  }
  if (name == "aim") {
    setting.aim = parse_aim(value);
    return value;
  }
  if (name == "transport") {
    setting.transport = parse_transport(value);
    return value;
  }
  if (name == "graphs") {
    setting.graphs = parse_graphs(value);
    return value;
  }
  throw Error(ErrorKind::bad_argument, "There is no axis '" + std::string(name) + "'.");
}

}  // namespace penstock::measure
