// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "penstock/device/copies.hpp"
#include "penstock/stream.hpp"

namespace penstock {

/// Adds a copy, or lengthens the last one if it ends where the new one begins, on both sides.
inline void add_copy(std::vector<Copy>& copies, Copy next) {
  if (next.from.empty()) return;
  if (!copies.empty()) {
    Copy& last = copies.back();
    bool const fits = last.to.size() == last.from.size();
    if (fits && last.to.data() + last.to.size() == next.to.data() &&
        last.from.data() + last.from.size() == next.from.data()) {
      last = {{last.to.data(), last.to.size() + next.to.size()},
              {last.from.data(), last.from.size() + next.from.size()}};
      return;
    }
  }
  copies.push_back(next);
}

}  // namespace penstock
