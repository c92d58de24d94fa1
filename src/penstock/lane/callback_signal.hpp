// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/core/event_count.hpp"
#include "penstock/core/mailbox.hpp"
#include "penstock/device/device.hpp"
#include "penstock/device/signal.hpp"

namespace penstock {

/// Tickets by stream callback, from a side stream, one for several tiles.
///
/// A callback in a working stream makes that stream wait until the host returned from it, which halved the throughput
/// even of 1 MiB tiles. Here a stream that does nothing else waits for a tile's last event and calls back. The driver
/// makes some tens of thousand calls a second, so no more than four are under way per lane: the next is asked for when
/// the lane has heard of one. While few tiles are in flight that is a call for each, for latency; a full lane is called
/// about every eighth of its depth.
///
/// Threads: the lane's. The callbacks come from the device's.
class CallbackSignal final : public Signal {
 public:
  /// `tickets` and `bell` must outlive the signal; `depth` is the most tiles in flight.
  CallbackSignal(Device& device, Mailbox<Ticket>& tickets, EventCount& bell, std::size_t depth);
  CallbackSignal(CallbackSignal const&) = delete;
  CallbackSignal& operator=(CallbackSignal const&) = delete;
  /// Blocks: until the device has made the calls that are due.
  ~CallbackSignal() override;

  void put(std::uint64_t number, EventRef after) override;
  void arm(std::uint64_t retired) override;

 private:
  class Call;

  Mailbox<Ticket>& tickets_;
  EventCount& bell_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::optional<EventRef>> after_;  ///< Of the tiles in flight, by number modulo depth.
  std::uint64_t youngest_ = 0;
  /// The tiles that calls are under way for, oldest first; done with once they are retired.
  std::array<std::uint64_t, 4> asked_{};
  Stream side_;
};

}  // namespace penstock
