// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/traced_run.hpp"

#include <algorithm>
#include <chrono>

#include "programs/command/program.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

void write_traced_run(TraceArguments const& trace, OutputFile& file, TraceFacts const& about, DeviceGroup const& on,
                      measure::Setting const& setting, measure::TrialOptions options, std::stop_token const& stop) {
  // A trace should show tiles, so it is shorter than a quarter of a second.
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
  tell(traced_text(trace.file, recording, trial->report.wall));
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
