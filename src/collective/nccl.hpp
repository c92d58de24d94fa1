// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/kernels.hpp"
#include "penstock/stream.hpp"

namespace penstock {

/// Limit for NCCL's blocks on each GPU.
struct NcclChannels {
  unsigned most = 0;                             ///< Maximum number of blocks; 0: NCCL chooses.
  std::function<void(std::size_t)> attach = {};  ///< Makes one of the GPUs the calling thread's current device; needed
                                                 /// with `most`.
};

/// Reductions of arrays on several GPUs, from GPU to GPU, by NCCL, which is loaded when this is made.
///
/// Threads: one at a time.
class Nccl {
 public:
  /// A GPU's array, and the GPU's stream for the reduction.
  struct Part {
    std::span<std::byte> array;
    StreamRef stream;
  };

  /// Makes a communicator for these GPUs, by their ordinals. `library` is NCCL's file; empty: libnccl.so.2, as the
  /// system finds libraries, in CUDA_HOME, or in /usr/local/cuda.
  ///
  /// Blocks: about a second.
  /// Throws: Error of kind unsupported, if there is no NCCL, or it refuses; the text names the reason and the remedy.
  static std::unique_ptr<Nccl> open(std::vector<int> const& gpus, std::string const& library = {},
                                    NcclChannels const& channels = {});
  virtual ~Nccl() = default;

  /// Enqueues the reduction of all parts' arrays into the first part's. NCCL chooses the order in which it adds
  /// floating-point numbers, by the number of GPUs and their links.
  ///
  /// Shape:  a part for each GPU, in their order; arrays of equal length.
  /// Blocks: never; the first array is valid once its stream has passed this call.
  /// Throws: Error: of kind device_refused, if NCCL refuses and nothing was enqueued; of kind device_lost, if it fails
  /// at the end: some GPUs may then be at it, and wait for the others for ever.
  virtual void reduce(std::span<Part const> parts, ElementType type, ReduceOperation operation) = 0;
  /// Does the same as `reduce`, but every part's array gets the result.
  virtual void all_reduce(std::span<Part const> parts, ElementType type, ReduceOperation operation) = 0;
  /// A remark that NCCL is too old for a limit on blocks, if one was requested; else empty.
  virtual std::string const& remark() const noexcept = 0;
  /// Name and version: "NCCL 2.28.3".
  virtual std::string const& name() const noexcept = 0;
  /// Leaves its communicators as they are, for ever: after the loss of a GPU their end would wait for it.
  virtual void leave() noexcept = 0;
};

}  // namespace penstock
