// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <cuda_runtime_api.h>

#include "penstock/error.hpp"

namespace penstock::cuda {

/// The place in the sources where a CUDA call was made.
struct CallSite {
  char const* file;
  int line;

  // This is no std::source_location, which clang 14 does not have with libstdc++ 12.
  static constexpr CallSite here(char const* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return {file, line};
  }
  /// The place of a call that others made.
  static constexpr CallSite unknown() noexcept { return {nullptr, 0}; }
};

/// True for an error after which every later call on the device fails too, until the process ends.
///
/// Threads: any, a CUDA callback too.
bool is_sticky(cudaError_t error) noexcept;

/// The kind of an error, by what a caller can do about it.
///
/// Threads: any, but not a CUDA callback: for one error it asks the driver for its version.
ErrorKind kind_of(cudaError_t error) noexcept;

/// One sentence that says what to do about an error.
///
/// Threads: as kind_of.
std::string_view remedy_for(cudaError_t error) noexcept;

/// The Error that `check` throws: call, CUDA's name and words, place, and what to do.
///
/// Threads: as kind_of.
Error failure(cudaError_t error, char const* what, CallSite where = CallSite::here());

/// Throws unless `result` is success. `what` names the call, with no arguments: "cudaMemcpyAsync".
///
/// The refusal is taken from the thread's last error as well, so that no later check is blamed for it.
/// Threads: as kind_of.
/// Throws:  Error.
inline void check(cudaError_t result, char const* what, CallSite where = CallSite::here()) {
  if (result == cudaSuccess) [[likely]]
    return;
  throw failure(result, what, where);
}

/// Throws if the kernel launch just made on this thread was refused. `kernel` names it.
///
/// Threads: the one that launched it.
/// Throws:  Error. What goes wrong while the kernel runs surfaces later, in the Completion.
inline void check_launch(char const* kernel, CallSite where = CallSite::here()) {
  check(cudaGetLastError(), kernel, where);
}

/// Does for destructors what `check` does for calls: one message, and never an exception.
///
/// It is silent when the process is ending and CUDA has ended before it.
void report(cudaError_t result, char const* what, CallSite where = CallSite::here()) noexcept;

}  // namespace penstock::cuda
