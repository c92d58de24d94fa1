// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/event_block_signal.hpp"

#include <string>

#include "penstock/error.hpp"

namespace penstock {

EventBlockSignal::EventBlockSignal(SignalContext const& context)
    : device_(context.device),
      tickets_(context.tickets),
      bell_(context.bell),
      waits_{Wait(device_), Wait(device_), Wait(device_), Wait(device_)},
      side_(context) {
  for (Wait& wait : waits_) free_.push(&wait);
  thread_ =
      BoundThread("ps-wait-" + std::to_string(context.lane), context.cpus, [this](std::stop_token const&) { body(); });
}

EventBlockSignal::~EventBlockSignal() {
  ending_.store(true, std::memory_order_release);
  work_.notify();
}

void EventBlockSignal::arm(std::uint64_t retired) {
  // If no wait is free, the thread has not yet woken from an event. So a ticket is still to come and wakes the lane.
  auto const any_free = [this] { return !free_.empty(); };
  side_.arm(retired, any_free, [this](std::uint64_t number, StreamRef stream) {
    Wait* const wait = free_.front();
    stream.record(wait->event);  // If it throws, the wait is still free.
    wait->number = number;
    free_.pop();
    recorded_.push(wait);
    work_.notify();
  });
}

void EventBlockSignal::body() {
  try {
    device_.attach();
  } catch (Error const&) {  // The device is lost; each wait will say so.
  }
  for (;;) {
    work_.await([this] { return !recorded_.empty() || ending_.load(std::memory_order_acquire); });
    auto const recorded = recorded_.pop();
    if (!recorded) return;
    Wait* const wait = *recorded;
    std::uint64_t const number = wait->number;
    StreamStatus status;
    try {
      wait->event.wait();
    } catch (Error const& error) {
      status = {.ok = false, .sticky = error.sticky(), .code = 0};
    }
    // First free the wait, then push the ticket: the lane that it wakes may ask for the next wait.
    free_.push(wait);
    push(number, status);
  }
}

void EventBlockSignal::push(std::uint64_t number, StreamStatus status) noexcept {
  tickets_.push({number, status});
  bell_.notify();
}

}  // namespace penstock
