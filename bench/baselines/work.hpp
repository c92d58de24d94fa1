// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace baselines {

/// Task of every baseline: send pinned tiles of floats, which are full, to the GPU, compute y = 2x + 1 there, bring y
/// back, say so, and take the tile again, for as long as there is more to do.
///
/// Threads: any; each tile is one thread's at a time.
class Work {
 public:
  /// `inputs` and `outputs` have room for `tiles` tiles of `bytes` each, side by side.
  Work(float const* inputs, float* outputs, std::size_t bytes, std::size_t tiles)
      : inputs_(inputs), outputs_(outputs), bytes_(bytes), tiles_(tiles) {}
  Work(Work const&) = delete;
  Work& operator=(Work const&) = delete;
  virtual ~Work() = default;

  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t floats() const noexcept { return bytes_ / sizeof(float); }
  std::size_t tiles() const noexcept { return tiles_; }
  float const* input(std::size_t tile) const noexcept { return inputs_ + tile * floats(); }
  float* output(std::size_t tile) const noexcept { return outputs_ + tile * floats(); }

  /// False once enough is measured, or something was wrong.
  virtual bool more() const noexcept = 0;
  /// The result of this tile is in its output: checks and counts it. The tile may then go again.
  virtual void done(std::size_t tile) = 0;

 private:
  float const* const inputs_;
  float* const outputs_;
  std::size_t const bytes_;
  std::size_t const tiles_;
};

}  // namespace baselines
