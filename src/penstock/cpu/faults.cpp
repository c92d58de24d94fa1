// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/faults.hpp"

#include <string>

namespace penstock::cpu {

void Faults::inject(Fault what, std::uint64_t nth) {
  if (nth == 0) throw Error(ErrorKind::bad_argument, "Calls are counted from 1: the next call is number 1, not 0.");
  std::lock_guard const lock(mutex_);
  armed_.push_back({what, nth});
  count_.store(armed_.size(), std::memory_order_relaxed);
}

bool Faults::strikes(Fault what) noexcept {
  // Relaxed: a thread that injects for calls of another thread orders the two itself or accepts either answer.
  if (count_.load(std::memory_order_relaxed) == 0) return false;
  std::lock_guard const lock(mutex_);
  auto const struck =
      std::erase_if(armed_, [what](Armed& armed) { return armed.what == what && --armed.calls_left == 0; });
  count_.store(armed_.size(), std::memory_order_relaxed);
  return struck != 0;
}

Error Faults::refusal(char const* request) {
  return Error(ErrorKind::device_refused, std::string("The CPU device refused ") + request + " (injected).");
}

}  // namespace penstock::cpu
