// SPDX-License-Identifier: Apache-2.0
#include "penstock/steps.hpp"

#include <array>

namespace penstock {

std::string_view step_name(Step step) noexcept {
  constexpr std::array<std::string_view, step_count> names{
      "borrow", "fill", "host", "inbox", "enqueue", "upload", "stage", "download", "notice", "deliver", "sink"};
  return names[static_cast<std::size_t>(step)];
}

}  // namespace penstock
