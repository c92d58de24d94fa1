// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace penstock::cli {

/// Feeds the watchdog of systemd, if that asked for it (WatchdogSec= of the unit).
///
/// Threads: one at a time.
/// Source:  sd_watchdog_enabled(3).
class Watchdog {
 public:
  Watchdog();

  /// Tells systemd that this process is alive, if a third of the time that it waits has passed.
  ///
  /// Blocks: as tell_service_manager.
  void feed();

 private:
  std::chrono::nanoseconds every_{0};  ///< 0: none is wanted.
  std::chrono::steady_clock::time_point next_;
};

}  // namespace penstock::cli
