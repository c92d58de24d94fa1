// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "affine.hpp"
#include "cuda.hpp"
#include "work.hpp"

namespace baselines {

/// Room on the GPU for one tile, and the three steps that all baselines give to a stream.
class TileOnGpu {
 public:
  explicit TileOnGpu(Work const& work) : in_(work.floats()), out_(work.floats()) {}
  /// Blocks: never.
  void enqueue(Work const& work, std::size_t tile, cudaStream_t stream) const {
    check(cudaMemcpyAsync(in_, work.input(tile), work.bytes(), cudaMemcpyHostToDevice, stream));
    check(affine(out_, in_, work.floats(), stream));
    check(cudaMemcpyAsync(work.output(tile), out_, work.bytes(), cudaMemcpyDeviceToHost, stream));
  }

 private:
  DeviceFloats in_, out_;
};

}  // namespace baselines
