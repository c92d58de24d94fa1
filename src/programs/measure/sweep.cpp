// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "engine/core/failure_text.hpp"
#include "engine/core/host_time.hpp"
#include "engine/core/number_text.hpp"
#include "engine/core/too_slow.hpp"
#include "penstock/error.hpp"
#include "programs/measure/ceilings.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/lateness.hpp"
#include "programs/measure/trial.hpp"

namespace penstock::measure {
namespace {

/// Key of what the ceilings depend on. Graphs make no difference: all parts are measured call by call, and ceilings_of
/// finds afterwards which of them bound a point.
/// `lanes` is 0 for a GPU: there parts have as many streams as keep it busy.
auto key_of(Setting const& setting, unsigned producers, unsigned batch, unsigned lanes) {
  auto const& alone = setting.its_job().alone;
  bool const fills = !alone || alone(setting.point()).fill;
  return std::tuple(setting.device, setting.tile, setting.point().values, fills ? producers : 0U, batch, lanes,
                    setting.pipeline.tuning.transport == Transport::mapped);
}
using Key = decltype(key_of(Setting{}, 0, 0, 0));

}  // namespace

inline namespace PENSTOCK_FLAVOUR {
namespace {

class Sweep {
 public:
  Sweep(DevicesByName const& devices, std::vector<PointResult> begun, SweepOptions const& options,
        std::stop_token const& stop, std::function<void(SweepProgress const&)> const& progress)
      : devices_(devices), options_(options), stop_(stop), progress_(progress), results_(std::move(begun)) {
    progress_now_.total =
        results_.size() * (options_.least_repeats + (options_.ceilings ? options_.rounds_of_ceilings : 0) +
                           (options_.load > 0 ? 1 : 0) + (options_.judged ? 1 : 0) + (options_.digests ? 1 : 0));
  }

  std::vector<PointResult> run() {
    std::mt19937 random(options_.order);  // Each round has another order.
    std::vector<std::size_t> order(results_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    unsigned const rounds = std::max(options_.most_repeats, options_.ceilings ? options_.rounds_of_ceilings : 0);
    for (unsigned round = 0; round < rounds && !stop_.stop_requested(); ++round) {
      std::shuffle(order.begin(), order.end(), random);
      if (round >= options_.least_repeats) progress_now_.total += wanting(order, round);
      for (std::size_t const i : order) {
        if (stop_.stop_requested()) break;
        if (wants_more(results_[i], round)) repeat(results_[i]);
        if (options_.ceilings && round < options_.rounds_of_ceilings) take_ceilings(results_[i], round);
      }
    }
    for (PointResult& result : results_) {
      auto const found = ceilings_.find(key(result));
      if (result.judged_by_its_clock() && found != ceilings_.end() && !found->second.empty()) {
        auto const full = static_cast<double>(bytes_of(result.point.setting.shape_of_tile()));
        result.ceilings = of_part_filled(ceilings_of(result.last->report, greatest(found->second)),
                                         std::min(1.0, result.last->bytes_per_tile / full));
        auto const& links = links_[link_of(result)];
        Ceilings const link = links.empty() ? Ceilings() : greatest(links);
        result.ceilings->link_up = link.link_up;
        result.ceilings->link_down = link.link_down;
      }
    }
    for (PointResult& result : results_) {
      remark_on_graphs(result);
      remark_on_empty_tiles(result);
      if (!result.too_slow.empty()) result.remarks.push_back(result.too_slow);
      if (!result.ceilings && result.too_slow.empty() && !result.late_ceilings.empty())
        result.remarks.push_back("What its parts come to alone is not known, so it is not judged. " +
                                 result.late_ceilings);
    }
    if (options_.digests) {
      for (PointResult& result : results_) take_digest(result);
      expect_same_results(results_);
    }
    for (PointResult& result : results_) {
      if (options_.load > 0) take_latency(result);
      if (options_.judged) trace(result);
    }
    return std::move(results_);
  }

 private:
  Key key(PointResult const& result) const {
    if (!result.last) return key_of(result.point.setting, 0, 0, 0);
    PipelineOptions const& ran = result.last->options;
    bool const gpu = devices_of(result).front().info().acts_as_gpu();
    return key_of(result.point.setting, ran.producers, ran.tuning.batch, gpu ? 0 : ran.lanes);
  }
  using Link = std::pair<std::string, Direction>;
  static Link link_of(PointResult const& result) {
    return Link(result.point.setting.device, direction_of(result.point.setting.shape_of_tile()));
  }
  DeviceGroup const& devices_of(PointResult const& result) const {
    return measure::devices_of(devices_, result.point.setting);
  }
  bool wants_more(PointResult const& result, unsigned round) const {
    if (!result.error.empty() || round >= options_.most_repeats) return false;
    return round < options_.least_repeats || result.tiles_per_second.empty() ||
           spread_of(result.tiles_per_second).relative() > options_.enough;
  }
  std::size_t wanting(std::vector<std::size_t> const& order, unsigned round) const {
    return static_cast<std::size_t>(
        std::count_if(order.begin(), order.end(), [&](std::size_t i) { return wants_more(results_[i], round); }));
  }

  void say(PointResult const& result) {
    if (progress_) {
      progress_now_.point = static_cast<std::size_t>(&result - results_.data());
      progress_(progress_now_);
    }
    ++progress_now_.done;
  }

  /// Does something for a point. Returns the error; empty if there was none.
  template <class Body>
  std::string attempt(PointResult const& result, Body body) {
    say(result);
    if (auto const loss = devices_of(result).lost()) return loss->what();
    try {
      body();
    } catch (std::exception const& exception) {
      return failure_text(exception);
    }
    return "";
  }

  /// Attempts a measurement that the point can do without.
  template <class Body>
  void attempt_beside(PointResult& result, std::string const& what, Body body) {
    std::string const wrong = attempt(result, body);
    if (!wrong.empty()) result.remarks.push_back(what + wrong);
  }

  void repeat(PointResult& result) {
    result.error = attempt(result, [&] {
      auto trial = run_trial(devices_of(result), result.point.setting, options_.trial, stop_);
      if (!trial) return;
      expect_contents(trial->metered.tiles, trial->bytes_per_tile);
      result.add(trial->metered.tiles_per_second(), trial->metered.cpu_seconds / trial->metered.tiles, false,
                 too_slow_in(trial->report.remarks));
      result.last = std::move(trial);
    });
  }

  /// The point is measured even if they cannot be had.
  void take_ceilings(PointResult& result, unsigned round) {
    if (!result.judged_by_its_clock() || !result.last || devices_of(result).lost() || stop_.stop_requested()) return;
    say(result);
    auto& all = ceilings_[key(result)];
    auto& rounds = ceiling_rounds_[key(result)];
    if (rounds > round) return;  // Another point of the round had the same.
    rounds = round + 1;
    HostTime::forget();  // On a slower clock this thread would sleep for what the run before took to end.
    try {
      Setting setting = result.point.setting;
      setting.pipeline.tuning.batch = result.last->options.tuning.batch;
      setting.pipeline.lanes = result.last->options.lanes;
      auto const now = measure_ceilings(devices_of(result), setting, result.last->options.producers,
                                        options_.trial.window / 4, stop_, options_.trial.memory.get());
      if (stop_.stop_requested()) return;  // The measurement was cut short.
      result.late_ceilings = now.late;
      if (!now.late.empty()) return;  // Such ceilings are too low, and results would exceed them.
      all.push_back(now.ceilings);
      auto& links = links_[link_of(result)];
      if (links.size() > round) return;  // The link is the same for tiles of all sizes.
      HostTime::forget();
      auto const link = measure_link(devices_of(result), link_of(result).second, options_.trial.window / 4, stop_);
      if (!stop_.stop_requested() && link.late.empty()) links.push_back(link.ceilings);
    } catch (std::exception const& exception) {
      if (stop_.stop_requested()) return;  // The measurement was cut short.
      std::string const remark = "Not all of its parts could be measured alone: " + failure_text(exception);
      if (result.remarks.empty()) result.remarks.push_back(remark);
    }
  }

  /// Adds the remark once, though there were several runs.
  static void remark_on_graphs(PointResult& result) {
    if (!result.error.empty() || !result.last) return;
    std::string const remark = graphs_remark(result.point.setting, result.last->report);
    if (!remark.empty()) result.remarks.push_back(remark);
  }

  /// Remarks on an input that is too small, or on packets and lines that fill no tile.
  static void remark_on_empty_tiles(PointResult& result) {
    constexpr double hardly = 1.0 / 64;
    if (!result.error.empty() || !result.last) return;
    double const full = static_cast<double>(bytes_of(result.point.setting.shape_of_tile()));
    double const filled = result.last->bytes_per_tile;
    if (filled >= hardly * full) return;
    auto const text = [](double bytes) { return size_text(static_cast<std::uint64_t>(std::llround(bytes))); };
    result.remarks.push_back("A tile of " + text(full) + " held " + text(std::max(filled, 1.0)) +
                             " on average, so GB/s says little: take a larger input, or smaller tiles.");
  }

  void take_digest(PointResult& result) {
    if (!result.error.empty() || stop_.stop_requested()) return;
    result.error = attempt(
        result, [&] { result.digest = digest_of(devices_of(result), result.point.setting, options_.trial, stop_); });
  }

  void take_latency(PointResult& result) {
    if (!result.judged_by_its_clock() || stop_.stop_requested()) return;
    attempt_beside(result, "Its latency could not be measured: ", [&] {
      double const load = options_.load * spread_of(result.tiles_per_second).median;
      for (int turn = 1;; ++turn) {
        try {
          result.latency = run_open_loop(devices_of(result), result.point.setting, load, options_.trial, stop_);
          return;
        } catch (Error const& error) {
          if (turn == tries_on_late_clock || too_slow_in({error.what()}).empty()) throw;
        }
      }
    });
  }

  /// Does one more run, in which every tile is recorded. Where a clock was late for the ceilings, a verdict would name
  /// the wrong bound: it could not tell what there is room for.
  void trace(PointResult& result) {
    bool const without_ceilings = !result.ceilings && !result.late_ceilings.empty();
    if (!result.judged_by_its_clock() || without_ceilings || stop_.stop_requested()) return;
    attempt_beside(result, "It could not be judged: ", [&] {
      auto run = judged_run(devices_of(result), result.point.setting,
                            {.trial = options_.trial,
                             .ceilings = result.ceilings.value_or(Ceilings{}),
                             .cpus = options_.cpus,
                             .room = options_.room},
                            stop_);
      if (!run) return;
      result.traced = std::move(run->traced);
      result.verdict = std::move(run->verdict);
    });
  }

  DevicesByName const& devices_;
  SweepOptions const& options_;
  std::stop_token const& stop_;
  std::function<void(SweepProgress const&)> const& progress_;
  std::vector<PointResult> results_;
  std::map<Key, std::vector<Ceilings>> ceilings_;
  std::map<Key, unsigned> ceiling_rounds_;  ///< Number of rounds in which they were tried.
  std::map<Link, std::vector<Ceilings>> links_;
  SweepProgress progress_now_;
};

}  // namespace

std::vector<PointResult> sweep(DeviceGroup const& devices, std::vector<Point> points, SweepOptions const& options,
                               std::stop_token const& stop, std::function<void(SweepProgress const&)> const& progress) {
  std::vector<PointResult> none;
  for (Point& point : points) none.push_back({.point = std::move(point)});
  return sweep(DevicesByName{{"", devices}}, std::move(none), options, stop, progress);
}

std::vector<PointResult> sweep(DevicesByName const& devices, std::vector<PointResult> begun,
                               SweepOptions const& options, std::stop_token const& stop,
                               std::function<void(SweepProgress const&)> const& progress) {
  for (PointResult const& result : begun) {
    std::string const& name = result.point.setting.device;
    if (devices.size() == 1 || devices.contains(name)) continue;
    throw Error(ErrorKind::bad_argument, "No device is given for the points that name '" + name + "': open it first.");
  }
  return Sweep(devices, std::move(begun), options, stop, progress).run();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
