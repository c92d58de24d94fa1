// SPDX-License-Identifier: Apache-2.0
#include "penstock/lab/experiment.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

Observation observe(Device& device, Experiment const& experiment, WorkbenchOptions options) {
  for (int tries_left = experiment.claim == Claim::may ? 2 : 0;; --tries_left) {
    Workbench bench(device, options);
    auto seen = experiment.run(bench);
    if (seen.verdict.as_expected || tries_left == 0) return seen;
    options.kernel_time *= 4;
  }
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
