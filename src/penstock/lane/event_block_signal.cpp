// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/event_block_signal.hpp"

#include <chrono>
#include <string>

#include "penstock/core/error.hpp"

namespace penstock {

EventBlockSignal::EventBlockSignal(SignalContext const& context)
    : device_(context.device),
      tickets_(context.tickets),
      bell_(context.bell),
      waits_{Wait(device_), Wait(device_), Wait(device_), Wait(device_)},
      side_(context),
      thread_("ps-wait-" + std::to_string(context.lane), context.cpus, [this](std::stop_token const&) { body(); }) {}

EventBlockSignal::~EventBlockSignal() {
  ending_.store(true, std::memory_order_release);
  work_.notify();
}

void EventBlockSignal::arm(std::uint64_t retired) {
  // Acquire: the thread has woken from its event. Until it has, its ticket is still to come and wakes the lane.
  auto const free = [this] { return next_wait().free.load(std::memory_order_acquire); };
  side_.arm(retired, free, [this](std::uint64_t number, StreamRef stream) {
    Wait& wait = next_wait();
    stream.record(wait.event);
    wait.number = number;
    wait.free.store(false, std::memory_order_relaxed);
    // Release: the event is recorded and its number written.
    recorded_.store(++asked_, std::memory_order_release);
    work_.notify();
  });
}

void EventBlockSignal::body() {
  try {
    device_.attach();
  } catch (Error const&) {  // It is lost, as each wait will say.
  }
  for (std::uint64_t done = 0;;) {
    auto const more = [&] {
      return recorded_.load(std::memory_order_acquire) != done || ending_.load(std::memory_order_acquire);
    };
    while (!work_.await(more, std::chrono::nanoseconds(0), std::chrono::hours(1))) {
    }
    if (recorded_.load(std::memory_order_acquire) == done) return;
    Wait& wait = waits_[done++ % waits_.size()];
    std::uint64_t const number = wait.number;
    StreamStatus status;
    try {
      wait.event.wait();
    } catch (Error const& error) {
      status = {.ok = false, .sticky = error.sticky(), .code = 0};
    }
    // First free, then the ticket: the lane that it wakes may want to ask for the next.
    wait.free.store(true, std::memory_order_release);
    push(number, status);
  }
}

void EventBlockSignal::push(std::uint64_t number, StreamStatus status) noexcept {
  tickets_.push({number, status});
  bell_.notify();
}

}  // namespace penstock
