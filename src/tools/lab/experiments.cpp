// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/experiments.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

std::vector<Experiment> all_experiments() {
  return {legacy_between(),     legacy_beside(), stray_legacy(),   stray_per_thread(), threads_legacy(),
          threads_per_thread(), library_joins(), library_beside(), two_uploads(),      issue_order(),
          pageable_copy(),      event_waits(),   priority()};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
