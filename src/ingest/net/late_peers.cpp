// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/late_peers.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/timerfd.h>
#include <unistd.h>

#include "engine/machine/poll_set.hpp"

namespace penstock {
namespace {

/// A limit is kept to an eighth of its length, with at least one check in ten seconds.
std::chrono::milliseconds time_between_looks(LatePeers::Limits const& limits) {
  auto const shorter = limits.silence ? std::min(*limits.silence, limits.record) : limits.record;
  return std::clamp<std::chrono::milliseconds>(shorter / 8, std::chrono::milliseconds(1), std::chrono::seconds(10));
}

}  // namespace

LatePeers::LatePeers(ConnectionGroup& group, Limits limits)
    : group_(group),
      limits_(limits),
      timer_(expect_descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))) {
  auto const between = time_between_looks(limits_);
  timespec const time{.tv_sec = between.count() / 1000, .tv_nsec = between.count() % 1000 * 1'000'000};
  itimerspec const again_and_again{.it_interval = time, .it_value = time};
  timerfd_settime(timer_.number, 0, &again_and_again, nullptr);
}

bool LatePeers::ready(Contents& /*contents*/) {
  std::uint64_t times = 0;
  if (read(timer_.number, &times, sizeof times) <= 0) return true;
  Clock::time_point const now = Clock::now();
  group_.give_up_late(limits_.silence ? std::optional(now - *limits_.silence) : std::nullopt, now - limits_.record);
  return true;
}

}  // namespace penstock
