// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/default_stream.hpp"

namespace penstock::cuda {

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM

std::string_view flavour() noexcept {
  return "per-thread";
}

cudaStream_t default_stream() noexcept {
  return cudaStreamPerThread;
}

#else

std::string_view flavour() noexcept {
  return "legacy";
}

cudaStream_t default_stream() noexcept {
  return cudaStreamLegacy;
}

#endif

cudaStream_t legacy_stream() noexcept {
  return cudaStreamLegacy;
}

}  // namespace penstock::cuda
