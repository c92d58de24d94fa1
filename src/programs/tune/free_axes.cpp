// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/free_axes.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// Each lane has its own thread, streams and slots: beyond this number a search would mostly pin memory.
constexpr std::size_t most_lanes = 32;
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

/// Words that any stage allows.
std::vector<std::string> words_of(OptionRow const& row) {
  std::istringstream all(row.words());
  std::vector<std::string> words;
  for (std::string word; all >> word;) {
    if (word.ends_with(',')) word.pop_back();
    if (word != row.promised) words.push_back(word);
  }
  return words;
}

/// Maximum value that is tried; 0 if it follows from other axes.
std::size_t most_of(OptionRow const& row, SearchBounds const& bounds) {
  constexpr std::size_t few = 4;
  std::size_t const cpus = bounds.cpus;
  if (row.name == "producers") return std::max(few, 2 * cpus);
  if (row.name == "lanes") return std::clamp(cpus, few, most_lanes);
  if (row.name == "consumers") return std::max<std::size_t>(1, cpus / 2);
  return bounds.gpu ? row.worth_trying : row.worth_trying / 16;
}

std::vector<std::string> worth_trying(std::string const& name, PipelineOptions const& defaults,
                                      SearchBounds const& bounds) {
  OptionRow const* const row = find_option(name);
  if (row != nullptr && row->kind == OptionKind::word) return words_of(*row);
  if (row != nullptr && row->kind == OptionKind::size) return sizes(std::stoull(row->text(defaults)));
  std::size_t const most = row != nullptr ? most_of(*row, bounds) : 0;
  if (most > 0) return counts(most, std::stoull(row->text(defaults)));
  throw Error(ErrorKind::bad_argument,
              "--" + name + " free: it follows from the others; leave it out, or name its values.");
}

[[noreturn]] void refuse_choice(std::string const& name, std::string const& list) {
  throw Error(ErrorKind::bad_argument,
              "--" + name + " " + list + ": that is the job, and not for a search to choose; name one value.");
}

}  // namespace

bool is_job(std::string const& name, Aim sought) {
  auto const kind = std::ranges::find(axis_kinds(), name, &AxisKind::name);
  if (kind == axis_kinds().end() || kind->of_job()) return true;
  // The smallest tiles have the least latency, and do the least.
  return sought == Aim::latency && kind->option->kind == OptionKind::size;
}

bool ordered(Axis const& axis) {
  return std::all_of(axis.values.begin(), axis.values.end(),
                     [](std::string const& value) { return is_number(value) && value != "0"; });
}

Setting default_setting(AxisLists const& lists, Aim sought, Setting const& begin) {
  Setting setting = begin;
  for (auto const& [name, list] : lists) {
    bool const free = list == free_axis;
    Axis const axis = free ? Axis{name, {}} : parse_axis(name, list, begin);
    if (is_job(name, sought) && axis.values.size() != 1) refuse_choice(name, list);
    if (!free) set(setting, name, axis.values.front());
  }
  static_cast<void>(setting.options());
  return setting;
}

std::vector<Axis> search_axes(AxisLists const& lists, PipelineOptions const& defaults, SearchBounds const& bounds,
                              Setting const& begin) {
  std::vector<Axis> axes;
  for (auto const& [name, list] : lists) {
    if (list == free_axis) {
      axes.push_back({name, worth_trying(name, defaults, bounds)});
      continue;
    }
    axes.push_back(parse_axis(name, list, begin));
    if (!ordered(axes.back())) continue;
    auto& values = axes.back().values;
    std::sort(values.begin(), values.end(),
              [](std::string const& a, std::string const& b) { return std::stoull(a) < std::stoull(b); });
  }
  return axes;
}

Point point_at(std::vector<Axis> const& axes, Levels const& levels, Setting const& begin) {
  Point point{.setting = begin};
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

Levels levels_of(std::vector<Axis> const& axes, PipelineOptions const& options) {
  Levels levels;
  for (Axis const& axis : axes) {
    OptionRow const* const row = find_option(axis.name);
    std::string const wanted = row != nullptr ? row->text(options) : "";
    std::size_t nearest = 0;
    for (std::size_t level = 0; row != nullptr && level < axis.values.size(); ++level) {
      std::string const& value = axis.values[level];
      if (value == wanted) {
        nearest = level;
        break;
      }
      // This chooses the greatest that is not beyond it.
      if (ordered(axis) && std::stoull(value) < std::stoull(wanted)) nearest = level;
    }
    levels.push_back(nearest);
  }
  return levels;
}

}  // namespace penstock::measure
