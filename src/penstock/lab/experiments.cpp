// SPDX-License-Identifier: Apache-2.0
#include "penstock/lab/experiments.hpp"

namespace penstock::lab {

std::vector<Experiment> all_experiments() {
  return {legacy_between(), legacy_beside()};
}

}  // namespace penstock::lab
