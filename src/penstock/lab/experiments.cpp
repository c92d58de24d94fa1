// SPDX-License-Identifier: Apache-2.0
#include "penstock/lab/experiments.hpp"

namespace penstock::lab {

std::vector<Experiment> all_experiments() {
  return {legacy_between(),     legacy_beside(), stray_legacy(), stray_per_thread(), threads_legacy(),
          threads_per_thread(), two_uploads(),   priority(),     library_joins(),    library_beside()};
}

}  // namespace penstock::lab
