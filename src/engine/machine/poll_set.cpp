// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/poll_set.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>

#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(int problem) {
  std::string const remedy = problem == ENOSPC ? "; raise fs.epoll.max_user_watches" : "";
  throw Error(ErrorKind::system, "Sockets cannot be waited for: " + system_problem(problem) + remedy + ".");
}

void control(int set, int operation, int descriptor, std::uint32_t events, void* what) {
  epoll_event event{.events = events, .data = {.ptr = what}};
  if (epoll_ctl(set, operation, descriptor, &event) != 0) refuse(errno);
}

}  // namespace

int expect_descriptor(int descriptor) {
  if (descriptor >= 0) return descriptor;
  refuse(errno);
}

PollSet::PollSet() : epoll_(expect_descriptor(epoll_create1(EPOLL_CLOEXEC))) {}

void PollSet::add(int descriptor, std::uint32_t events, void* what) {
  control(epoll_.number, EPOLL_CTL_ADD, descriptor, events, what);
}

void PollSet::change(int descriptor, std::uint32_t events, void* what) {
  control(epoll_.number, EPOLL_CTL_MOD, descriptor, events, what);
}

void PollSet::remove(int descriptor) noexcept {
  epoll_ctl(epoll_.number, EPOLL_CTL_DEL, descriptor, nullptr);
}

std::span<epoll_event> PollSet::wait(std::span<epoll_event> room,
                                     std::optional<std::chrono::milliseconds> at_most) const {
  constexpr std::int64_t longest = std::numeric_limits<int>::max();
  int const time = at_most ? static_cast<int>(std::clamp<std::int64_t>(at_most->count(), 0, longest)) : -1;
  int const ready = epoll_wait(epoll_.number, room.data(), static_cast<int>(room.size()), time);
  return room.first(static_cast<std::size_t>(std::max(ready, 0)));  // A signal that is handled wakes, too.
}

}  // namespace penstock
