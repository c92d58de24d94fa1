// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "penstock/core/event_count.hpp"
#include "penstock/core/mailbox.hpp"
#include "penstock/device/signal.hpp"

namespace penstock {

/// A callback that does its two things: it pushes a ticket, and wakes the lane.
class TicketCallback final : public StreamCallback {
 public:
  /// Both outlive it.
  TicketCallback(Mailbox<Ticket>& tickets, EventCount& bell) noexcept : tickets_(tickets), bell_(bell) {}

  /// The tile that the next call is for.
  void stand_for(std::uint64_t number) noexcept { number_.store(number, std::memory_order_release); }
  void called(StreamStatus status) noexcept override {
    // A full mailbox is no loss: the lane has more tickets than tiles to read, and its watchdog asks the device itself.
    tickets_.push({number_.load(std::memory_order_acquire), status});
    bell_.notify();
  }

 private:
  Mailbox<Ticket>& tickets_;
  EventCount& bell_;
  // Atomic, because a device that calls twice may do so while the next promise is being made.
  std::atomic<std::uint64_t> number_{0};
};

}  // namespace penstock
