// SPDX-License-Identifier: Apache-2.0
// Times of a model of a GPU count if this machine was in time for the model's clock, which is slower than its own.
#pragma once

#include <string>

#include <penstock/device.hpp>

namespace course {

/// Does work whose times do not count: it loads kernels and touches memory for the first time.
template <class Work>
void warm_up(penstock::Device& device, Work const& work) {
  work();
  device.remarks();  // What was late so far is told here, and not again.
}

/// What is to be said of the times since `warm_up`, or since the last call: `comparison`, or that the clock was late.
inline std::string judged(penstock::Device& device, std::string comparison) {
  for (std::string const& remark : device.remarks()) {
    if (remark.starts_with("This machine is too slow")) return ", which cannot be judged: " + remark;
  }
  return comparison;
}

}  // namespace course
