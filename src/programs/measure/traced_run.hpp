// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/observe/recording.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/measure/setting.hpp"
#include "programs/measure/trial.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// Runs the setting once more, for a moment, with its tiles recorded as `trace` says, and writes a trace to `file`.
/// Says on standard error what the trace shows and what recording cost. Does nothing, if `stop` was requested.
///
/// Blocks: some tenths of a second.
/// Throws: Error, as run_trial and write_trace_file.
void write_traced_run(TraceArguments const& trace, OutputFile& file, TraceFacts const& about, DeviceGroup const& on,
                      measure::Setting const& setting, measure::TrialOptions options, std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
