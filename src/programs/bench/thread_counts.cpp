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

/// True if both points have the same values on all axes but one.
bool beside(PointResult const& one, PointResult const& other, std::size_t axis) {
  for (std::size_t i = 0; i < one.point.values.size(); ++i) {
    if (i != axis && one.point.values[i] != other.point.values[i]) return false;
  }
  return true;
}

bool counts(PointResult const& result) {
  return result.last && result.judged_by_its_clock() && ThreadCurve::rate(result) > 0;
}

/// What else was swept, as "tile 64KiB: "; empty if nothing was.
std::string place_beside(std::span<Axis const> axes, std::size_t place, PointResult const& result) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i == place || !axes[i].swept()) continue;
    text += (text.empty() ? "" : ", ") + axes[i].name + " " + axis_value_text(axes[i].name, result.point.values[i]);
  }
  return text.empty() ? "" : text + ": ";
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

unsigned ThreadCurve::threads(PointResult const& point) const {
  PipelineOptions const& options = point.last->options;
  return axis == "producers" ? options.producers : axis == "lanes" ? options.lanes : options.consumers;
}

double ThreadCurve::rate(PointResult const& point) {
  return measure::spread_of(point.tiles_per_second).median;
}

std::vector<ThreadCurve> thread_curves(std::span<Axis const> axes, std::span<PointResult const> results) {
  std::string const name = thread_axis(axes);
  std::vector<ThreadCurve> curves;
  if (name.empty()) return curves;
  std::size_t const place = place_of(axes, name);
  std::vector<PointResult const*> firsts;
  for (PointResult const& result : results) {
    auto const like_it = std::ranges::find_if(firsts, [&](auto const* one) { return beside(*one, result, place); });
    auto const at = static_cast<std::size_t>(like_it - firsts.begin());
    if (like_it == firsts.end()) {
      firsts.push_back(&result);
      curves.push_back({.axis = name, .place = place_beside(axes, place, result)});
    }
    ThreadCurve& curve = curves[at];
    curve.most_asked_for = std::max(curve.most_asked_for, whole_number_of(result.point.values[place]).value_or(0));
    if (counts(result)) curve.points.push_back(&result);
    curve.interrupted = curve.interrupted || (result.error.empty() && !result.last);
  }
  for (ThreadCurve& curve : curves)
    std::ranges::stable_sort(curve.points, {}, [&](PointResult const* one) { return curve.threads(*one); });
  return curves;
}

std::vector<std::optional<SpeedUp>> speed_ups_of(std::span<Axis const> axes, std::span<PointResult const> results) {
  auto const curves = thread_curves(axes, results);
  std::vector<std::optional<SpeedUp>> all(curves.empty() ? 0 : results.size());
  for (ThreadCurve const& curve : curves) {
    double best_of_a_thread = 0;
    for (PointResult const* const point : curve.points)
      best_of_a_thread = std::max(best_of_a_thread, ThreadCurve::rate(*point) / std::max(1U, curve.threads(*point)));
    for (PointResult const* const point : curve.points) {
      double const rate = ThreadCurve::rate(*point);
      all[static_cast<std::size_t>(point - results.data())] =
          SpeedUp{rate / ThreadCurve::rate(*curve.points.front()),
                  rate / std::max(1U, curve.threads(*point)) / best_of_a_thread};
    }
  }
  return all;
}

}  // namespace penstock::cli
