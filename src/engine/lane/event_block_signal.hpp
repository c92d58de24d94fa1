// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "engine/core/mailbox.hpp"
#include "engine/lane/callback_signal.hpp"
#include "engine/lane/signal.hpp"
#include "engine/machine/bound_thread.hpp"

namespace penstock {

/// A thread beside the lane that sleeps in the wait for an event, and then pushes a ticket: few CPU cycles, and no
/// callback of the driver's.
///
/// Its events are its own, recorded by a side stream: a tile's own event may be recorded again, for the slot's next
/// tile, before a thread that waits for it has woken.
///
/// Threads: the lane's.
class EventBlockSignal final : public Signal {
 public:
  explicit EventBlockSignal(SignalContext const& context);
  EventBlockSignal(EventBlockSignal const&) = delete;
  EventBlockSignal& operator=(EventBlockSignal const&) = delete;
  /// Blocks: until the device has passed what is waited for, or is lost.
  ~EventBlockSignal() override;

  void put(std::uint64_t number, StreamRef /*stream*/, EventRef landed) override { side_.put(number, landed); }
  void arm(std::uint64_t retired) override;
  std::optional<std::uint64_t> read() const noexcept override { return std::nullopt; }
  bool wakes() const noexcept override { return true; }

 private:
  /// An event to wait for. It goes back and forth between the lane and the thread; the one that has it may touch it.
  struct Wait {
    explicit Wait(Device& device) : event(device.make_event({.blocking_wait = true})) {}
    Event event;
    std::uint64_t number = 0;
  };
  using Waits = OneWayQueue<Wait*, CallbackThrottle::most_under_way>;
  void body();
  void push(std::uint64_t number, StreamStatus status) noexcept;

  Device& device_;
  Mailbox<Ticket>& tickets_;
  EventCount& bell_;
  std::array<Wait, CallbackThrottle::most_under_way> waits_;
  SideStream side_;

  Waits recorded_;  ///< Passes from the lane to the thread.
  Waits free_;      ///< Passes from the thread back to the lane.
  std::atomic<bool> ending_{false};
  EventCount work_;  ///< The thread sleeps on it.
  BoundThread thread_;
};

}  // namespace penstock
