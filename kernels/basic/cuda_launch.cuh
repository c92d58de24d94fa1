// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include "penstock/error.hpp"

namespace penstock {

/// `stream` as CUDA names it. A kernel has no flavour, so 0, whose meaning depends on it, is refused.
inline cudaStream_t own_stream(void* stream) {
  if (stream != nullptr) return static_cast<cudaStream_t>(stream);
  throw Error(ErrorKind::bad_argument,
              "A kernel cannot be launched in stream 0: take the default stream that is meant, "
              "Device::legacy_default_stream or Device::per_thread_default_stream.");
}

/// Throws if a CUDA call failed: device_lost if the error stays, device_refused if it can be cleared.
inline void check_kernel(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  bool const sticky = cudaGetLastError() != cudaSuccess;
  throw Error(sticky ? ErrorKind::device_lost : ErrorKind::device_refused,
              std::string(what) + " was refused by the GPU: " + cudaGetErrorString(status) + ".");
}

/// Has the driver load `kernel` into the current context now, instead of at its first launch.
template <class... Arguments>
void load_kernel(void (*kernel)(Arguments...), char const* what) {
  cudaFuncAttributes attributes{};
  check_kernel(cudaFuncGetAttributes(&attributes, reinterpret_cast<void const*>(kernel)), what);
}

/// Launches `blocks` blocks of `threads` threads. Leaves the thread's last CUDA error alone if all went well.
template <class... Arguments>
void launch_kernel(void (*kernel)(Arguments...), unsigned blocks, unsigned threads, void* stream, char const* what,
                   Arguments... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)...};
  check_kernel(cudaLaunchKernel(reinterpret_cast<void const*>(kernel), dim3(blocks), dim3(threads), pointers, 0,
                                own_stream(stream)),
               what);
}

/// The same for a kernel whose blocks meet at a barrier: all of them must fit on the GPU at once.
template <class... Arguments>
void launch_cooperative_kernel(void (*kernel)(Arguments...), unsigned blocks, unsigned threads, void* stream,
                               char const* what, Arguments... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)...};
  check_kernel(cudaLaunchCooperativeKernel(reinterpret_cast<void const*>(kernel), dim3(blocks), dim3(threads), pointers,
                                           0, own_stream(stream)),
               what);
}

}  // namespace penstock
