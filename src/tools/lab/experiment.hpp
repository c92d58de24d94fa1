// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "penstock/device/build_flavour.hpp"
#include "tools/lab/figure.hpp"
#include "tools/lab/interval.hpp"
#include "tools/lab/verdict.hpp"
#include "tools/lab/workbench.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

/// What came out of an experiment.
struct Observation {
  std::vector<Interval> intervals;
  std::vector<Figure> figures;
  Verdict verdict;
};

/// What one run of an experiment is worth.
enum class Claim {
  must,  ///< Something always happens: one run that goes otherwise disproves it.
  may,   ///< Something can happen: one run in which it does proves it.
};

/// A question to a device about the order of its work.
struct Experiment {
  std::string_view name;         ///< As the command line has it.
  std::string_view expectation;  ///< What should happen, in one sentence.
  std::string_view why;          ///< Why that matters, in one sentence.
  Claim claim;
  /// Asks it.
  ///
  /// Blocks: until the device has answered.
  /// Throws: Error, if the device fails at it.
  Observation (*run)(Workbench& bench);
};

/// Runs it on a workbench of its own. What may happen gets four more tries if it does not, with kernels that are longer
/// each time, up to 0.8 s: a host that was busy elsewhere when it should have launched the next one is no disproof.
///
/// Blocks: until the device has answered.
/// Throws: as Experiment::run.
Observation observe(Device& device, Experiment const& experiment, WorkbenchOptions options = {});

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
