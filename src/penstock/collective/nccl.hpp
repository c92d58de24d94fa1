// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/flavour.hpp"
#include "penstock/kernels.hpp"
#include "penstock/stream.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// How many blocks NCCL may have on each GPU at once.
struct NcclChannels {
  unsigned most = 0;                             ///< 0: what it chooses.
  std::function<void(std::size_t)> attach = {};  ///< Makes one of the GPUs the calling thread's; needed with `most`.
};

/// Arrays of several GPUs made one, from GPU to GPU, by NCCL: it is loaded when this is made.
///
/// Threads: one at a time.
class Nccl {
 public:
  /// A GPU's array, and the stream of it in which that is done.
  struct Part {
    std::span<std::byte> array;
    StreamRef stream;
  };

  /// Makes a communicator for these GPUs, by their ordinals. `library` is NCCL's; empty: libnccl.so.2, where the system
  /// looks for libraries, in CUDA_HOME, or in /usr/local/cuda.
  ///
  /// Blocks: about a second.
  /// Throws: Error of kind unsupported, if there is no NCCL, or it refuses; the text says which and what to do.
  static std::unique_ptr<Nccl> open(std::vector<int> const& gpus, std::string const& library = {},
                                    NcclChannels const& channels = {});
  virtual ~Nccl() = default;

  /// Enqueues that the first part's array becomes what all parts' are together. NCCL chooses the order in which it adds
  /// floating-point numbers, by the number of GPUs and how they are linked.
  ///
  /// Shape:  a part for each GPU, in their order; arrays as long as each other.
  /// Blocks: never; the first array is valid once its stream has passed this call.
  /// Throws: Error: of kind device_refused, if NCCL refuses and nothing was enqueued; of kind device_lost, if it fails
  /// at the end: some GPUs may then be at it, and wait for the others for ever.
  virtual void reduce(std::span<Part const> parts, ElementType type, ReduceOperation operation) = 0;
  /// As `reduce`, but every part's array becomes that.
  virtual void all_reduce(std::span<Part const> parts, ElementType type, ReduceOperation operation) = 0;
  /// That it is too old to be told how many blocks it may have, if it was to be told; else empty.
  virtual std::string const& remark() const noexcept = 0;
  /// "NCCL 2.28.3".
  virtual std::string const& name() const noexcept = 0;
  /// Leaves its communicators as they are, for ever: after a GPU was lost, their end would wait for it.
  virtual void leave() noexcept = 0;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
