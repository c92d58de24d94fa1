// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/health.hpp"

#include <new>
#include <string>
#include <utility>

namespace penstock::cuda {

void Health::fail(cudaError_t result, char const* what, CallSite where) {
  Error const refusal = failure(result, what, where);
  std::lock_guard const lock(mutex_);
  if (fault_) throw too_late(what);
  if (refusal.sticky()) fault_ = refusal;
  throw Error(refusal);
}

void Health::expect_alive(char const* what) const {
  std::lock_guard const lock(mutex_);
  if (fault_) throw too_late(what);
}

Error Health::too_late(char const* what) const {
  return Error(ErrorKind::device_lost, std::string(what) + " came too late. " + fault_->what());
}

void Health::abandon(Error const& why) {
  {
    std::lock_guard const lock(mutex_);
    if (!fault_) fault_ = why;
  }
  abandoned_.store(true, std::memory_order_release);
}

bool Health::ready(cudaError_t result, char const* what, CallSite where) {
  expect_waited_for(what);
  if (result != cudaErrorNotReady) {
    check(result, what, where);
    return true;
  }
  // "Not yet" is no refusal: the check of the next launch must not find it. A real refusal stays.
  if (cudaPeekAtLastError() == cudaErrorNotReady) static_cast<void>(cudaGetLastError());
  return false;
}

void Health::report(cudaError_t result, char const* what, CallSite where) noexcept {
  if (result == cudaSuccess) return;
  note(result, what, where);
  {
    std::lock_guard const lock(mutex_);
    if (fault_ && std::exchange(reported_, true)) return;
  }
  cuda::report(result, what, where);
}

void Health::note(cudaError_t result, char const* what, CallSite where) noexcept {
  if (!is_sticky(result)) return;
  std::lock_guard const lock(mutex_);
  if (fault_) return;
  try {
    fault_ = failure(result, what, where);
  } catch (std::bad_alloc const&) {
    // No memory for the sentence: the next call that meets the fault will tell of it.
  }
}

void Health::note_answer(cudaError_t result, char const* what, CallSite where) noexcept {
  if (result != cudaErrorInvalidResourceHandle && result != cudaErrorDeviceUninitialized) {
    return note(result, what, where);
  }
  std::lock_guard const lock(mutex_);
  // The refusal is known here; it is not that of the thread's next launch.
  static_cast<void>(cudaGetLastError());
  if (fault_) return;
  try {
    fault_ = Error(ErrorKind::device_lost, std::string(what) + ": the device is lost: " + cudaGetErrorName(result) +
                                               " for a stream of the device's own. " +
                                               std::string(remedy_for(cudaErrorContextIsDestroyed)));
  } catch (std::bad_alloc const&) {
    // No memory for the sentence: the next question finds the same.
  }
}

std::optional<Error> Health::left_behind(cudaError_t last) {
  // "Not yet" is only the answer to an earlier question.
  if (last == cudaSuccess || last == cudaErrorNotReady) return std::nullopt;
  constexpr char const* what = "A launch, or another call whose result was not checked,";
  note(last, what, CallSite::unknown());
  if (auto known = fault()) return known;
  return failure(last, what, CallSite::unknown());
}

std::optional<Error> Health::fault() const {
  std::lock_guard const lock(mutex_);
  return fault_;
}

}  // namespace penstock::cuda
