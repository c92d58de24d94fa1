// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/default_stream.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

cudaStream_t default_stream() noexcept {
  return flavour() == Flavour::legacy ? legacy_stream() : per_thread_stream();
}

cudaStream_t per_thread_stream() noexcept {
  return cudaStreamPerThread;
}

cudaStream_t legacy_stream() noexcept {
  return cudaStreamLegacy;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
