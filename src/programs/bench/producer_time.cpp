// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/producer_time.hpp"

#include <algorithm>
#include <chrono>

#include "engine/core/number_text.hpp"
#include "programs/bench/thread_counts.hpp"

namespace penstock::cli {
namespace {

using measure::PointResult;

/// A tile that takes less to fill is only passed on.
constexpr double hardly_anything = 1e-6;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// "with 1 it is 32 us: 20 us to fill it, 0.40 us until one is free, 12 us beside"
std::string text_of(unsigned producers, ProducerTime const& time) {
  return "with " + std::to_string(producers) + " it is " + seconds_text(time.all()) + ": " + seconds_text(time.fill) +
         " to fill it, " + seconds_text(time.wait) + " until one is free, " + seconds_text(time.beside) + " beside";
}

}  // namespace

std::optional<ProducerTime> producer_time(PointResult const& point) {
  if (!point.last || point.last->metered.tiles <= 0) return std::nullopt;
  Report const& report = point.last->report;
  PipelineOptions const& options = point.last->options;
  if (report.fill.count() <= 0 || report.tiles_done == 0 || options.tuning.run_to_completion) return std::nullopt;
  auto const tiles = static_cast<double>(report.tiles_done);
  double const at_work = options.producers - seconds(report.producers_rest) / std::max(seconds(report.wall), 1e-9);
  double const all = at_work * point.last->metered.seconds / point.last->metered.tiles;
  ProducerTime time{.fill = seconds(report.fill) / tiles, .wait = seconds(report.borrow_wait) / tiles};
  // The source's time in a run also has what caches and other threads add to it, and on a model the way to the lane.
  if (point.ceilings && point.ceilings->fill.value_or(0) > 0)
    time.fill = std::min(time.fill, options.producers / *point.ceilings->fill);
  time.beside = std::max(0.0, all - time.fill - time.wait);
  return time;
}

std::string producer_time_text(std::span<measure::Axis const> axes, std::span<PointResult const> results) {
  std::string text;
  for (ThreadCurve const& curve : thread_curves(axes, results)) {
    if (curve.axis != "producers" || curve.points.size() < 2) continue;
    auto const fewest = producer_time(*curve.points.front()), most = producer_time(*curve.points.back());
    if (!fewest || !most || fewest->fill < hardly_anything) continue;
    text += "A tile's time of a producer: " + curve.place + text_of(curve.threads(*curve.points.front()), *fewest) +
            "; " + text_of(curve.threads(*curve.points.back()), *most) + ".\n";
  }
  if (!text.empty()) text += "Beside: to ask the source, to send the tile on, and to wait for a CPU.\n";
  return text;
}

}  // namespace penstock::cli
