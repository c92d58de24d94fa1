// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/default_stream.hpp"

namespace penstock::cuda {

cudaStream_t per_thread_stream() noexcept {
  return cudaStreamPerThread;
}

cudaStream_t legacy_stream() noexcept {
  return cudaStreamLegacy;
}

}  // namespace penstock::cuda
