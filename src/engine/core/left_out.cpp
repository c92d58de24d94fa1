// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {

void add_left_out(std::vector<LeftOut>& all, std::span<LeftOut const> more) {
  for (LeftOut const& one : more) {
    if (one.count == 0) continue;
    auto const same = std::ranges::find_if(all, [&one](LeftOut const& other) {
      return other.unit == one.unit && other.reason == one.reason && other.remedy == one.remedy &&
             other.lost == one.lost;
    });
    if (same == all.end()) {
      all.push_back(one);
    } else {
      same->count += one.count;
      same->bytes += one.bytes;
    }
  }
}

bool any_lost(std::span<LeftOut const> all) noexcept {
  return std::ranges::any_of(all, [](LeftOut const& one) { return one.lost && one.count != 0; });
}

std::string describe(std::span<LeftOut const> all) {
  std::string text;
  for (LeftOut const& one : all) {
    if (one.count == 0) continue;
    text += (text.empty() ? "Left out: " : "; ") + count_text(one.count, one.unit);
    if (one.bytes != 0) text += " (" + size_text(one.bytes) + ")";
    text += ", " + one.reason;
    if (!one.remedy.empty()) text += ": " + one.remedy;
  }
  return text.empty() ? text : text + ".";
}

}  // namespace penstock
