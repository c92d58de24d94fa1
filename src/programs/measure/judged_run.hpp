// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/report.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/setting.hpp"
#include "programs/measure/trial.hpp"

namespace penstock::measure {

/// A run in which every tile was recorded, and the verdict on it.
struct JudgedRun {
  Traced traced;
  Verdict verdict;
};

struct JudgedRunOptions {
  TrialOptions trial = {};  ///< The run takes at most 70 ms of its times, unless that is too short to judge it.
  Ceilings ceilings = {};   ///< Known ceilings; those that bound such a run count (ceilings_of).
  unsigned cpus = 0;        ///< CPUs that this process may use; 0 if unknown.
  /// Passages that the recorder has room for: more than the smallest tiles of most devices need. The verdict on a run
  /// that has more covers the part before the room was full.
  std::size_t room = std::size_t{1} << 19;
};

inline namespace PENSTOCK_FLAVOUR {

/// Runs the setting for a moment, with every tile recorded, and judges the run. While the run is too short for that
/// (too_short_to_judge) and there is room for more passages, it is repeated with a window four times as long, up to the
/// window of the options or one second, whichever is longer. Where a clock was late it is repeated, too. Empty, if
/// `stop` was requested or no tile came.
///
/// Blocks: for 70 ms or, if that is too short, some seconds, and what it takes to pin, start and end.
/// Throws: as run_trial; also Error of kind bad_argument, if there was no room for anything that counts.
std::optional<JudgedRun> judged_run(DeviceGroup const& devices, Setting const& setting, JudgedRunOptions options,
                                    std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
