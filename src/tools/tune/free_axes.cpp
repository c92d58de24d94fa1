// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/free_axes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// Each has a thread, streams and slots of its own: beyond that a search would mostly pin memory.
constexpr std::size_t most_lanes = 32;
constexpr std::size_t most_depth = 512;
constexpr std::size_t most_batch = 128;
constexpr std::size_t least_tile = std::size_t{4} << 10, most_tile = std::size_t{16} << 20;

bool is_number(std::string const& value) {
  return !value.empty() &&
         std::all_of(value.begin(), value.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// 1, 2, 3, 4, 6, 8, 12 and so on, each a half or a third more than the one before; and `also`, if it is a count.
std::vector<std::string> counts(std::size_t most, std::size_t also) {
  std::vector<std::size_t> all{1};
  for (std::size_t power = 2; power <= most; power *= 2) {
    all.push_back(power);
    if (power / 2 * 3 <= most) all.push_back(power / 2 * 3);
  }
  if (also > 0) all.push_back(also);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<std::string> texts;
  for (std::size_t const one : all) texts.push_back(std::to_string(one));
  return texts;
}

std::vector<std::string> sizes(std::size_t also) {
  std::vector<std::size_t> all{also};
  for (std::size_t size = least_tile; size <= most_tile; size *= 2) all.push_back(size);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<std::string> texts;
  for (std::size_t const one : all) texts.push_back(std::to_string(one));
  return texts;
}

template <class Value, std::size_t count>
std::vector<std::string> words_of(std::array<Value, count> const& all) {
  std::vector<std::string> words;
  for (Value const one : all) words.emplace_back(to_string(one));
  return words;
}

std::vector<std::string> worth_trying(std::string const& name, PipelineOptions const& defaults,
                                      std::size_t default_tile, SearchBounds const& bounds) {
  constexpr std::size_t few = 4;
  std::size_t const cpus = bounds.cpus;
  if (name == "threads") return counts(std::max(few, 2 * cpus), defaults.producers);
  if (name == "lanes") return counts(std::clamp(cpus, few, most_lanes), defaults.lanes);
  if (name == "consumers") return counts(std::max<std::size_t>(1, cpus / 2), defaults.consumers);
  if (name == "depth") return counts(bounds.gpu ? most_depth : most_depth / 16, defaults.slots);
  if (name == "batch") return counts(bounds.gpu ? most_batch : most_batch / 16, defaults.batch);
  if (name == "tile") return sizes(default_tile);
  if (name == "signal") return words_of(all_signal_kinds);
  if (name == "aim") return words_of(all_aims);
  if (name == "shape") return words_of(all_lane_shapes);
  // Not mapped alone, which many stages do not allow.
  if (name == "transport") return {"automatic", "copies"};
  if (name == "graphs") return words_of(all_graphs);
  throw Error(ErrorKind::bad_argument,
              "--" + name + " free: it follows from the others; leave it out, or name its values.");
}

/// What stages, sources or sinks would notice is for the user to say.
bool is_job(std::string const& name, Aim sought) {
  // The smallest tiles are soonest through, and do the least.
  if (sought == Aim::latency && name == "tile") return true;
  for (char const* const one : {"work", "fill", "direction", "streams", "sink"}) {
    if (name == one) return true;
  }
  return false;
}

[[noreturn]] void refuse_choice(std::string const& name, std::string const& list) {
  throw Error(ErrorKind::bad_argument,
              "--" + name + " " + list + ": that is the job, and not for a search to choose; name one value.");
}

}  // namespace

bool ordered(Axis const& axis) {
  return std::all_of(axis.values.begin(), axis.values.end(),
                     [](std::string const& value) { return is_number(value) && value != "0"; });
}

Setting default_setting(AxisLists const& lists, Aim sought) {
  Setting setting;
  for (auto const& [name, list] : lists) {
    bool const free = list == free_axis;
    Axis const axis = free ? Axis{name, {}} : parse_axis(name, list);
    if (is_job(name, sought) && axis.values.size() != 1) refuse_choice(name, list);
    if (!free) set(setting, name, axis.values.front());
  }
  static_cast<void>(setting.options());
  return setting;
}

std::vector<Axis> search_axes(AxisLists const& lists, PipelineOptions const& defaults, std::size_t default_tile,
                              SearchBounds const& bounds) {
  std::vector<Axis> axes;
  for (auto const& [name, list] : lists) {
    if (list == free_axis) {
      axes.push_back({name, worth_trying(name, defaults, default_tile, bounds)});
      continue;
    }
    axes.push_back(parse_axis(name, list));
    if (!ordered(axes.back())) continue;
    auto& values = axes.back().values;
    std::sort(values.begin(), values.end(),
              [](std::string const& a, std::string const& b) { return std::stoull(a) < std::stoull(b); });
  }
  return axes;
}

Point point_at(std::vector<Axis> const& axes, Levels const& levels) {
  Point point;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    point.values.push_back(axes[axis].values[levels[axis]]);
    set(point.setting, axes[axis].name, point.values.back());
  }
  return point;
}

void add_known(std::vector<Axis>& axes, AxisLists const& lists, AxisLists const& known) {
  for (auto const& one : known) {
    std::string const& name = one.first;
    bool const free = std::find(lists.begin(), lists.end(), std::pair(name, std::string(free_axis))) != lists.end();
    auto const axis = std::find_if(axes.begin(), axes.end(), [&](Axis const& each) { return each.name == name; });
    if (!free || axis == axes.end()) continue;
    Setting tried;
    std::string const said = set(tried, name, one.second);
    auto& values = axis->values;
    if (std::find(values.begin(), values.end(), said) != values.end()) continue;
    auto const behind =
        !ordered(*axis) ? values.end() : std::find_if(values.begin(), values.end(), [&](std::string const& other) {
          return std::stoull(other) > std::stoull(said);
        });
    values.insert(behind, said);
  }
}

Levels levels_of_known(std::vector<Axis> const& axes, Levels levels, AxisLists const& known) {
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    for (auto const& [name, value] : known) {
      if (name != axes[axis].name) continue;
      auto const found = std::find(axes[axis].values.begin(), axes[axis].values.end(), value);
      if (found != axes[axis].values.end()) levels[axis] = static_cast<std::size_t>(found - axes[axis].values.begin());
    }
  }
  return levels;
}

Levels levels_of(std::vector<Axis> const& axes, PipelineOptions const& options, std::size_t tile) {
  std::map<std::string, std::string> const wanted{{"threads", std::to_string(options.producers)},
                                                  {"lanes", std::to_string(options.lanes)},
                                                  {"consumers", std::to_string(options.consumers)},
                                                  {"depth", std::to_string(options.slots)},
                                                  {"batch", std::to_string(options.batch)},
                                                  {"tile", std::to_string(tile)},
                                                  {"aim", std::string(to_string(options.aim))},
                                                  {"signal", std::string(to_string(options.signal))},
                                                  {"shape", std::string(to_string(options.shape))},
                                                  {"transport", std::string(to_string(options.transport))},
                                                  {"graphs", std::string(to_string(options.graphs))},
                                                  {"streams", options.streams == StreamMode::own ? "own" : "default"},
                                                  {"sink", options.sink_on_lanes ? "lanes" : "graph"}};
  Levels levels;
  for (Axis const& axis : axes) {
    auto const found = wanted.find(axis.name);
    std::size_t nearest = 0;
    for (std::size_t level = 0; found != wanted.end() && level < axis.values.size(); ++level) {
      std::string const& value = axis.values[level];
      if (value == found->second) {
        nearest = level;
        break;
      }
      // The greatest that is not beyond it.
      if (ordered(axis) && std::stoull(value) < std::stoull(found->second)) nearest = level;
    }
    levels.push_back(nearest);
  }
  return levels;
}

}  // namespace penstock::measure
