// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device_group.hpp"
#include "tools/command/trace_file.hpp"
#include "tools/measure/setting.hpp"
#include "tools/measure/trial.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// Runs the setting once more, for a moment, with its tiles recorded as `trace` says, writes that as a trace to `file`,
/// and says on standard error what the trace shows and what it took to record it. Nothing, if `stop` was requested.
///
/// Blocks: some tenths of a second.
/// Throws: Error, as run_trial and write_trace_file.
void write_traced_run(TraceArguments const& trace, OutputFile& file, TraceFacts const& about, DeviceGroup const& on,
                      measure::Setting const& setting, measure::TrialOptions options, std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
