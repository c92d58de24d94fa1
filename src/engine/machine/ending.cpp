// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/ending.hpp"

#include <cerrno>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>

#include "engine/machine/poll_set.hpp"

namespace penstock {

Ending::Ending(std::stop_token const& stop)
    : event_(expect_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))), on_stop_(stop, [this] { request(); }) {}

void Ending::request() noexcept {
  requested_.store(true, std::memory_order_release);
  std::uint64_t const one = 1;
  // It cannot fail but by a count that is full, which is readable, too.
  static_cast<void>(!write(event_.number, &one, sizeof one));
}

void Ending::wait(std::chrono::nanoseconds at_most) const noexcept {
  if (at_most.count() <= 0) return;
  timespec const time{.tv_sec = at_most.count() / 1'000'000'000, .tv_nsec = at_most.count() % 1'000'000'000};
  pollfd waited{event_.number, POLLIN, 0};
  ppoll(&waited, 1, &time, nullptr);
}

}  // namespace penstock
