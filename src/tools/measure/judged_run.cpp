// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/judged_run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "penstock/core/error.hpp"
#include "penstock/core/recorder.hpp"
#include "penstock/judge/judge.hpp"
#include "penstock/report/stretch.hpp"
#include "tools/measure/recorded_part.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

std::optional<JudgedRun> judged_run(DeviceGroup const& devices, Setting const& setting, JudgedRunOptions options,
                                    std::stop_token const& stop) {
  Recorder recorder({.capacity = options.room});
  TrialOptions& wanted = options.trial;
  wanted.warm_up = std::min<std::chrono::nanoseconds>(wanted.warm_up, std::chrono::milliseconds(20));
  wanted.window = std::min<std::chrono::nanoseconds>(wanted.window, std::chrono::milliseconds(50));
  wanted.recorder = &recorder;
  auto trial = run_trial(devices, setting, wanted, stop);
  if (!trial || trial->metered.tiles <= 0) return std::nullopt;
  Traced traced{.recording = recorder.take(),
                .opened = recorder.since_start(trial->metered.opened),
                .closed = recorder.since_start(trial->metered.closed),
                .tiles_per_second = trial->metered.tiles_per_second()};
  if (!cut_to_recorded(traced, trial->metered))
    throw Error(ErrorKind::bad_argument, "More was to be recorded than there is room for.");
  Recording window = within(traced.recording, traced.opened, traced.closed);
  window.missed = 0;  // What was, came later.
  Verdict verdict =
      judge(figures_of(trial->report, trial->options, trial->metered, window, devices.front(), options.cpus),
            ceilings_of(trial->report, options.ceilings));
  return JudgedRun{std::move(traced), std::move(verdict)};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
