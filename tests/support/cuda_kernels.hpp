// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "support/kernels.hpp"
#include <cuda_runtime_api.h>

namespace penstock::support {

class CudaGates;

/// Kernels of the CUDA device. A Hold takes up one block, and gives up by itself after twenty seconds, so that no
/// mistake in a test can hang a GPU; the test fails then.
class CudaKernels final : public Kernels {
 public:
  CudaKernels();
  ~CudaKernels() override;

  void fill(StreamRef stream, DeviceSpan<std::byte> bytes, std::byte value) const override;
  void add_one(StreamRef stream, DeviceSpan<std::byte> bytes) const override;
  void sum_each(StreamRef stream, RecordTable inputs, DeviceSpan<std::byte const> input, RecordTable outputs,
                DeviceSpan<std::byte> output) const override;
  /// The first hold pins memory, which may wait for the device; later ones do not.
  Hold hold(StreamRef stream) const override;
  /// The environment says so by PENSTOCK_ONE_KERNEL_AT_A_TIME.
  bool run_beside_each_other() const override;

  /// Unpins that memory. Call it when no hold is alive and the device is idle, and before the process ends.
  void give_back() const noexcept;

 private:
  std::mutex mutable mutex_;
  std::shared_ptr<CudaGates> mutable gates_;
};

/// Gives the process as many hardware queues as CUDA can have. With the usual eight, a ninth stream shares one, and
/// waits there behind a hold of another stream. Call it before the process's first CUDA call.
void let_many_streams_run_at_once();

/// Launches a kernel that writes where there is no memory, and checks nothing: the device will be lost.
void write_to_nowhere(cudaStream_t stream);

/// Launches a kernel whose assert fails, and checks nothing: the device will be lost.
void assert_in_vain(cudaStream_t stream);

/// Launches a kernel that ends with the process.
void run_for_ever(cudaStream_t stream);

/// Launches a kernel with blocks that no GPU can run, and checks nothing.
void launch_too_large(cudaStream_t stream);

}  // namespace penstock::support
