// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/aim.hpp"

#include "penstock/core/words.hpp"

namespace penstock {

std::string_view to_string(Aim aim) noexcept {
  switch (aim) {
    case Aim::throughput:
      return "throughput";
    case Aim::latency:
      return "latency";
  }
  return "";
}

Aim parse_aim(std::string_view name) {
  return parse_word(all_aims, name, "aim");
}

}  // namespace penstock
