// SPDX-License-Identifier: Apache-2.0
#include "programs/work/watchdog.hpp"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include <unistd.h>

#include "engine/core/number_text.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock::cli {

Watchdog::Watchdog() : next_(std::chrono::steady_clock::now()) {
  char const* const microseconds = std::getenv("WATCHDOG_USEC");
  char const* const process = std::getenv("WATCHDOG_PID");
  if (microseconds == nullptr || (process != nullptr && process != std::to_string(getpid()))) return;
  auto const longest = whole_number_of(microseconds, std::uint64_t{std::numeric_limits<std::int32_t>::max()} * 1000);
  // A third of the time leaves room for a thread that is late.
  if (longest) every_ = std::chrono::microseconds(*longest) / 3;
}

void Watchdog::feed() {
  auto const now = std::chrono::steady_clock::now();
  if (every_.count() == 0 || now < next_) return;
  tell_service_manager("WATCHDOG=1");
  next_ = now + every_;
}

}  // namespace penstock::cli
