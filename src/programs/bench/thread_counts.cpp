// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/thread_counts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "engine/core/number_text.hpp"
#include "observe/option_table.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using measure::Axis;
using measure::PointResult;

constexpr std::array<std::string_view, 3> thread_axes{"producers", "lanes", "consumers"};

std::size_t place_of(std::span<Axis const> axes, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(axes, name, &Axis::name) - axes.begin());
}

unsigned threads_of(std::string_view axis, PointResult const& result) {
  PipelineOptions const& options = result.last->options;
  return axis == "producers" ? options.producers : axis == "lanes" ? options.lanes : options.consumers;
}

/// True if both points have the same values on all axes but one.
bool beside(PointResult const& one, PointResult const& other, std::size_t axis) {
  for (std::size_t i = 0; i < one.point.values.size(); ++i) {
    if (i != axis && one.point.values[i] != other.point.values[i]) return false;
  }
  return true;
}

double rate_of(PointResult const& result) {
  return measure::spread_of(result.tiles_per_second).median;
}

}  // namespace

std::string number_that_ran(Axis const& axis, std::span<PointResult const> results) {
  OptionRow const* const row = find_option(axis.name);
  if (row == nullptr || row->kind != OptionKind::count) return {};
  std::string least, most;
  for (PointResult const& result : results) {
    if (!result.last) continue;
    std::string const ran = row->text(result.last->options);
    if (ran == "0") continue;
    auto const less = [](std::string const& one, std::string const& other) {
      return one.size() != other.size() ? one.size() < other.size() : one < other;
    };
    if (least.empty() || less(ran, least)) least = ran;
    if (most.empty() || less(most, ran)) most = ran;
  }
  return least + (most != least ? " to " + most : "");
}

std::string value_that_ran(Axis const& axis, std::string const& value, std::span<PointResult const> results) {
  std::string const ran = number_that_ran(axis, results);
  return axis_value_text(axis.name, value) + (ran.empty() || ran == value ? "" : " (" + ran + " ran)");
}

std::string thread_axis(std::span<Axis const> axes) {
  std::string found;
  for (Axis const& axis : axes) {
    if (!axis.swept() || std::ranges::find(thread_axes, axis.name) == thread_axes.end()) continue;
    if (!found.empty()) return {};
    found = axis.name;
  }
  return found;
}

std::vector<std::optional<SpeedUp>> speed_ups_of(std::span<Axis const> axes, std::span<PointResult const> results) {
  std::string const name = thread_axis(axes);
  if (name.empty()) return {};
  std::size_t const place = place_of(axes, name);
  auto const counts = [](PointResult const& result) { return result.last && result.judged_by_its_clock(); };
  std::vector<std::optional<SpeedUp>> all(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!counts(results[i])) continue;
    PointResult const* fewest = &results[i];
    for (PointResult const& other : results) {
      if (counts(other) && beside(results[i], other, place) && threads_of(name, other) < threads_of(name, *fewest))
        fewest = &other;
    }
    if (threads_of(name, *fewest) == 0 || rate_of(*fewest) <= 0) continue;
    double const times = rate_of(results[i]) / rate_of(*fewest);
    all[i] = SpeedUp{times, times * threads_of(name, *fewest) / threads_of(name, results[i])};
  }
  return all;
}

}  // namespace penstock::cli
