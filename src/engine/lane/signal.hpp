// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/core/event_count.hpp"
#include "engine/core/mailbox.hpp"
#include "engine/machine/cpu_set.hpp"
#include "penstock/device.hpp"
#include "penstock/stream.hpp"

namespace penstock {

/// Everything up to `number` is done on this lane: all that a signal says. It is a hint; the lane checks before it
/// believes.
struct Ticket {
  std::uint64_t number = 0;
  StreamStatus status;
};

/// Tells a lane that its device got somewhere: by tickets in its mailbox, or by a look.
///
/// Numbers start at 1 and grow by one per tile.
/// Threads: the lane that it belongs to. Its tickets arrive in the lane's mailbox from wherever the device calls.
/// Throws:  Error, if the device refuses. The lane's watchdog then finds what is not signalled.
class Signal {
 public:
  virtual ~Signal() = default;
  /// Says that tile `number` was put on the device, and with it all tiles after the last one that was: their last step
  /// is in `stream`, with `landed` behind it.
  virtual void put(std::uint64_t number, StreamRef stream, EventRef landed) = 0;
  /// Makes sure that a ticket is on its way if any tile beyond `retired` is. The lane calls it before it sleeps.
  virtual void arm(std::uint64_t retired) = 0;
  /// The number that the device wrote last, if that is how it signals; the lane then looks here and asks the events
  /// only to be sure. Empty for others: the lane asks the events.
  ///
  /// Blocks: never.
  virtual std::optional<std::uint64_t> read() const noexcept = 0;
  /// False if no ticket ever comes: with tiles in flight the lane then must keep looking.
  virtual bool wakes() const noexcept = 0;
};

/// Things that a lane has for its signal. Device, tickets and bell outlive it.
struct SignalContext {
  Device& device;
  Mailbox<Ticket>& tickets;
  EventCount& bell;    ///< Rung for each ticket.
  std::size_t depth;   ///< Maximum number of tiles in flight.
  unsigned lane = 0;   ///< The lane's number, for the names of threads.
  CpuSet const& cpus;  ///< CPUs that threads of the signal may run on.
};

}  // namespace penstock
