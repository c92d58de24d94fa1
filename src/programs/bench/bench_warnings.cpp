// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/bench_warnings.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "programs/command/results.hpp"

namespace penstock::cli {

using measure::PointResult;

std::string place_text(std::span<measure::Axis const> axes, measure::Point const& point) {
  std::string where;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].swept()) continue;
    where += (where.empty() ? "" : ", ") + axes[i].name + " " + axis_value_text(axes[i].name, point.values[i]);
  }
  return where;
}

namespace {

/// The points that stray from run to run, and by how much; or empty.
std::string stray_text(std::span<measure::Axis const> axes, std::span<PointResult const> results) {
  constexpr double much = 0.1;
  std::string places;
  std::size_t count = 0;
  double most = 0;
  for (PointResult const& result : results) {
    if (!result.judged_by_its_clock()) continue;
    double const relative = measure::spread_of(result.tiles_per_second).relative();
    if (relative <= much) continue;
    most = std::max(most, relative);
    places += (places.empty() ? "" : "; ") + place_text(axes, result.point);
    ++count;
  }
  if (count == 0) return "";
  std::string const which = results.size() == 1 ? "The only point strays"
                            : count == results.size()
                                ? "All points stray"
                                : std::to_string(count) + " of " + std::to_string(results.size()) +
                                      (count == 1 ? " points strays (" : " points stray (") + places + ")";
  return which + " by up to " + formatted("%.0f %%", 100 * most) +
         " from run to run: something else may be busy here. Take small differences for nothing.\n";
}

}  // namespace

std::string late_text(std::span<measure::Axis const> axes, std::span<PointResult const> results) {
  std::vector<std::string> places;
  std::string first;
  for (PointResult const& result : results) {
    if (result.too_slow.empty()) continue;
    if (first.empty()) first = result.too_slow;
    places.push_back(place_text(axes, result.point));
  }
  return late_sentence(first, places, results.size());
}

std::string warnings_text(std::span<measure::Axis const> axes, std::span<PointResult const> results) {
  return late_text(axes, results) + stray_text(axes, results);
}

}  // namespace penstock::cli
