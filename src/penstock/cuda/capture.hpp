// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "penstock/cuda/health.hpp"
#include "penstock/stream.hpp"
#include "penstock/flavour.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

/// Owns a cudaGraphExec_t, or nothing if nothing was captured.
///
/// Threads: as Capture.
class CudaCapture final : public CaptureBackend {
 public:
  /// What can be launched of `graph`, which stays the caller's.
  ///
  /// Blocks: while the driver makes it, some 10 us and more with its size.
  /// Throws: Error.
  CudaCapture(Health& health, cudaGraph_t graph);
  CudaCapture(CudaCapture const&) = delete;
  CudaCapture& operator=(CudaCapture const&) = delete;
  ~CudaCapture() override;

  /// Throws: Error, if it is another kind of device's.
  static CudaCapture& of(CaptureBackend& backend);

  std::size_t operations() const noexcept override { return operations_; }
  /// Brings it to the GPU, so that the first launch need not.
  void upload(cudaStream_t stream);
  void launch(cudaStream_t stream);

 private:
  Health& health_;
  std::size_t operations_ = 0;
  cudaGraphExec_t handle_ = nullptr;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
