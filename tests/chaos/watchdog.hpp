// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "chaos/chaos_case.hpp"

namespace penstock::chaos {

/// Ends the process with a sentence, the way to repeat it and every thread's stack, if a scenario hangs: it checks
/// nothing any more, though its threads had the CPUs that they asked for, or have computed for a minute. Time in which
/// they wait for a CPU, or the process is stopped, does not count.
///
/// Threads: one.
class Watchdog {
 public:
  Watchdog();
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;
  ~Watchdog();

  /// Watches this case, which outlives the watch; null for none.
  void watch(Case* watched) {
    std::scoped_lock const lock(mutex_);
    watched_ = watched;
    ++watches_;  // The next case may lie where the last one lay.
  }

 private:
  void body();

  std::mutex mutex_;
  Case* watched_ = nullptr;
  std::uint64_t watches_ = 0;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Returns what a person types to run this seed again.
std::string command_for(Case const& the_case);

}  // namespace penstock::chaos
