// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "penstock/device/stream.hpp"

namespace penstock {

/// Everything up to `number` is done on this lane: all that a signal says. It is a hint; the lane checks before it
/// believes.
struct Ticket {
  std::uint64_t number = 0;
  StreamStatus status;
};

/// How a lane learns that its device got somewhere.
///
/// Numbers start at 1 and grow by one per tile.
/// Threads: the lane that it belongs to. Its tickets arrive in the lane's mailbox from wherever the device calls.
class Signal {
 public:
  virtual ~Signal() = default;
  /// Says that tile `number` was put on the device, with `after` behind it.
  virtual void put(std::uint64_t number, EventRef after) = 0;
  /// Sees to it that some ticket is on its way if any tile beyond `retired` is. The lane calls it before it sleeps.
  ///
  /// Throws: Error, if the device refuses.
  virtual void arm(std::uint64_t retired) = 0;
};

}  // namespace penstock
