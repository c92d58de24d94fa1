// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/setting.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"
#include "programs/measure/built_in.hpp"

namespace penstock::measure {
namespace {

constexpr std::size_t largest_tile = std::size_t{1} << 30;
/// Default of pipelines, unless they are for latency.
constexpr std::chrono::microseconds longest_borrow_spin{20};
/// There can be as many lanes as producers, which may have several values.
constexpr std::string_view many_lanes = "lanes", as_producers = "producers", as_producers_formerly = "threads";
constexpr std::string_view in_order = "ordered";

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

constexpr std::array sinks{std::pair{std::string_view("graph"), false}, std::pair{std::string_view("lanes"), true}};
std::string read(JobOption const& option, std::string const& value) {
  try {
    return option.read ? option.read(value) : value;
  } catch (Error const& error) {
    refuse(option.name, value, error.what());
  }
}

std::string set_one(Setting& setting, JobOption const& option, std::string const& value) {
  std::string said = read(option, value);
  setting.values.set(option.name, said);
  return said;
}

/// Its value if it is not named: a job may have a tile of its own, and may need order.
std::string preset_of(OptionRow const& row, Job const& job) {
  if (row.kind == OptionKind::size) return job.tile;
  return row.name == in_order && job.ordered ? "yes" : row.preset();
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

Job const& Setting::its_job() const {
  return job != nullptr ? *job : built_in_job();
}

void Setting::expect_required() const {
  for (JobOption const& option : its_job().options) {
    if (option.required && !values.has(option.name))
      throw Error(ErrorKind::bad_argument, "--" + option.name + " is missing: " + option.sentence + ".");
  }
}

JobPoint Setting::point() const {
  JobPoint point{.tile_bytes = tile, .pipeline = pipeline, .parts = parts};
  for (JobOption const& option : its_job().options)
    point.values.set(option.name, values.has(option.name)                   ? values.texts(option.name)
                                  : option.several && option.preset.empty() ? std::vector<std::string>()
                                                                            : std::vector{option.preset});
  return point;
}

TileShape Setting::shape_of_tile() const {
  auto const& shape = its_job().shape;
  return shape ? shape(point()) : TileShape{.input_bytes = tile};
}

PipelineOptions Setting::options() const {
  PipelineOptions options = pipeline;
  options.tile = shape_of_tile();
  if (lanes_as_producers) options.lanes = options.producers;
  Tuning const& tuning = options.tuning;
  if (tuning.run_to_completion && (options.producers != 0 || tuning.slots > 1 || tuning.batch > 1)) {
    throw Error(ErrorKind::bad_argument,
                "With --run-to-completion yes lanes are the producers, and each has one tile: leave out --producers, "
                "--slots and --batch, and give --lanes; or --run-to-completion no.");
  }
  if (options.tuning.spin) {
    options.tuning.borrow_spin =
        options.aim == Aim::latency ? *options.tuning.spin : std::min(*options.tuning.spin, longest_borrow_spin);
  }
  options.parallel_sink = its_job().parallel_sink && options.consumers > 1;
  options.ordered = options.ordered || its_job().ordered;
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
  static std::vector<AxisKind> const all = axis_kinds(built_in_job());
  return all;
}

std::vector<AxisKind> axis_kinds(Job const& job) {
  std::vector<AxisKind> kinds;
  for (OptionRow const& row : option_table()) {
    if (!row.in(named_in::axes)) continue;
    kinds.push_back({.name = row.name, .preset = preset_of(row, job), .option = &row});
  }
  for (JobOption const& option : job.options) {
    if (!option.listed) continue;
    kinds.push_back(
        {.name = option.name, .preset = option.preset, .sentence = option.sentence, .words = option.offered});
  }
  if (job.parallel_sink) {
    kinds.push_back({.name = "sink",
                     .preset = "graph",
                     .sentence = "Where results are taken: graph (consumers), lanes (at once)",
                     .words = "graph, lanes"});
  }
  return kinds;
}

std::string set(Setting& setting, std::string_view name, std::string const& value) {
  if (name == many_lanes) {
    setting.lanes_as_producers = value == as_producers || value == as_producers_formerly;
    if (setting.lanes_as_producers) return std::string(as_producers);
  }
  if (name == "device") return setting.device = value;
  for (JobOption const& option : setting.its_job().options) {
    if (option.name == name) return set_one(setting, option, value);
  }
  if (name == "sink") return set_word(setting.pipeline.tuning.sink_on_lanes, name, value, sinks);
  OptionRow const* const row = find_option(name);
  if (row == nullptr || !row->in(named_in::axes)) {
    throw Error(ErrorKind::bad_argument, "There is no axis '" + std::string(name) + "'.");
  }
  if (row->kind == OptionKind::size) return set_tile(setting, value);
  row->set(setting.pipeline, value);
  if (name == in_order && setting.its_job().ordered && !setting.pipeline.ordered)
    refuse(name, value, "this job takes results in the order of its input: leave it out.");
  return row->text(setting.pipeline);
}

void set_own(Setting& setting, JobOption const& option, std::vector<std::string> const& values) {
  if (values.empty()) return;
  std::vector<std::string> said;
  for (std::string const& value : values) said.push_back(read(option, value));
  setting.values.set(option.name, std::move(said));
}

}  // namespace penstock::measure
