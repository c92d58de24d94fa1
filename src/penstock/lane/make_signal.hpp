// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "penstock/core/event_count.hpp"
#include "penstock/core/mailbox.hpp"
#include "penstock/device.hpp"
#include "penstock/device/signal.hpp"
#include "penstock/machine/cpu_set.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// What a lane has for its signal. Device, tickets and bell outlive it.
struct SignalContext {
  Device& device;
  Mailbox<Ticket>& tickets;
  EventCount& bell;    ///< Rung for each ticket.
  std::size_t depth;   ///< The most tiles in flight.
  unsigned lane = 0;   ///< The lane's number, for the names of threads.
  CpuSet const& cpus;  ///< Where threads of the signal may run.
};

/// The signal of that kind, for the lane that calls this.
///
/// Throws: Error, if the device has no such mechanism or refuses.
std::unique_ptr<Signal> make_signal(SignalKind kind, SignalContext const& context);

}  // namespace penstock
