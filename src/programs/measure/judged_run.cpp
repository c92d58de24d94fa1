// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/judged_run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "observe/judge.hpp"
#include "observe/verdict/passages.hpp"
#include "observe/verdict/run_figures.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"
#include "penstock/observe.hpp"
#include "programs/measure/lateness.hpp"

namespace penstock::measure {
namespace {

using Seconds = std::chrono::duration<double>;

/// A judged run, and whether a longer one would tell more.
struct RecordedRun {
  JudgedRun run;
  bool too_short = false;
  bool late = false;
  double seconds = 0;  ///< Length of its window, which ends with a tile.
};

std::optional<RecordedRun> recorded_run(DeviceGroup const& devices, Setting const& setting,
                                        JudgedRunOptions const& options, std::stop_token const& stop) {
  Recorder recorder({.capacity = options.room});
  TrialOptions wanted = options.trial;
  wanted.recorder = &recorder;
  auto trial = run_trial(devices, setting, wanted, stop);
  if (!trial || trial->metered.tiles <= 0) return std::nullopt;
  Traced traced{.recording = recorder.take(),
                .opened = recorder.since_start(trial->metered.opened),
                .closed = recorder.since_start(trial->metered.closed),
                .tiles_per_second = trial->metered.tiles_per_second()};
  if (!cut_to_recorded(traced, trial->metered))
    throw Error(ErrorKind::bad_argument, "More was to be recorded than there is room for.");
  bool const room_left = traced.recording.missed == 0;
  Recording window = within(traced.recording, traced.opened, traced.closed);
  window.missed = 0;  // Only passages after the window were missed.
  RunFigures const figures =
      figures_of(trial->report, trial->options, trial->metered, window, devices.front(), options.cpus);
  Ceilings const ceilings = ceilings_of(trial->report, options.ceilings);
  return RecordedRun{.run = {std::move(traced), judge(figures, ceilings)},
                     .too_short = room_left && too_short_to_judge(figures, ceilings),
                     .late = !figures.late.empty(),
                     .seconds = figures.wall};
}

}  // namespace

inline namespace PENSTOCK_FLAVOUR {

std::optional<JudgedRun> judged_run(DeviceGroup const& devices, Setting const& setting, JudgedRunOptions options,
                                    std::stop_token const& stop) {
  TrialOptions& wanted = options.trial;
  // A second of this machine, whatever the factor of the clock.
  auto const longest = std::max<std::chrono::nanoseconds>(
      wanted.window, std::chrono::nanoseconds(std::chrono::seconds(1)) / Clock::slower());
  wanted.warm_up = std::min<std::chrono::nanoseconds>(wanted.warm_up, std::chrono::milliseconds(20));
  wanted.window = std::min<std::chrono::nanoseconds>(wanted.window, std::chrono::milliseconds(50));
  for (int late = 0;;) {
    auto made = recorded_run(devices, setting, options, stop);
    if (!made) return std::nullopt;
    if (made->late && ++late < tries_on_late_clock) continue;
    bool const longer = std::max<Seconds>(wanted.window, Seconds(made->seconds)) < longest;
    if (!made->too_short || !longer) return std::move(made->run);
    wanted.window = std::clamp<std::chrono::nanoseconds>(4 * wanted.window, std::chrono::milliseconds(1), longest);
  }
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
