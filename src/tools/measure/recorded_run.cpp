// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/recorded_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "penstock/error.hpp"
#include "penstock/flow/judge.hpp"
#include "penstock/recorder.hpp"
#include "penstock/report/passages.hpp"
#include "tools/measure/figures.hpp"

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

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

void write_traced_run(TraceArguments const& trace, OutputFile& file, TraceFacts const& about, DeviceGroup const& on,
                      measure::Setting const& setting, measure::TrialOptions options, std::stop_token const& stop) {
  // The user looks at a trace to see tiles, and not a quarter of a second of them.
  options.warm_up = std::min<std::chrono::nanoseconds>(options.warm_up, std::chrono::milliseconds(20));
  options.window = std::min<std::chrono::nanoseconds>(options.window, std::chrono::milliseconds(50));
  auto const recorder = trace.recorder();
  options.recorder = recorder.get();
  auto const activities = trace.activity_log(recorder.get());
  if (activities != nullptr) options.ranges = activities.get();
  auto const trial = run_trial(on, setting, options, stop);
  if (!trial) return;
  if (activities != nullptr) activities->finish();
  Recording const recording = recorder->take();
  write_trace_file(file, recording, about);
  std::fprintf(stderr, "penstock: %s\n", traced_text(trace.file, recording, trial->report.wall).c_str());
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
