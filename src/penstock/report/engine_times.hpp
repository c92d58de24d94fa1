// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "penstock/recorder.hpp"
#include "penstock/report/intervals.hpp"

namespace penstock {

/// When one engine of a device was at work for any stream.
struct EngineTimes {
  std::string engine;
  Intervals busy;
};

/// All engines that rows of the recording name, in the order in which they are first named. Where not every tile was
/// looked at, an engine was at work at other times as well.
std::vector<EngineTimes> engine_times(Recording const& recording);

}  // namespace penstock
