// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/report.hpp"
#include "tools/command/trace_file.hpp"
#include "tools/measure/figures.hpp"
#include "tools/measure/setting.hpp"
#include "tools/measure/trial.hpp"

namespace penstock::measure {

/// A run of which every tile was recorded, and what bounded it.
struct JudgedRun {
  Traced traced;
  Verdict verdict;
};

struct JudgedRunOptions {
  TrialOptions trial = {};  ///< Of which the run takes 70 ms at most.
  Ceilings ceilings = {};   ///< What is known of them; those count that bound such a run (ceilings_of).
  unsigned cpus = 0;        ///< That this process may use; 0 if unknown.
  /// Passages that the recorder takes: more than the smallest tiles of most devices need. Of a run that has more the
  /// verdict is of the part before there were so many.
  std::size_t room = std::size_t{1} << 19;
};

inline namespace PENSTOCK_FLAVOUR {

/// Runs the setting for a moment, with every tile recorded, and judges that. Empty, if `stop` was requested or no tile
/// came.
///
/// Blocks: for 70 ms, and what it takes to pin, start and end.
/// Throws: as run_trial; also Error of kind bad_argument, if there was no room for anything that counts.
std::optional<JudgedRun> judged_run(DeviceGroup const& devices, Setting const& setting, JudgedRunOptions options,
                                    std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure

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
