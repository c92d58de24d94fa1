// SPDX-License-Identifier: Apache-2.0
// A kernel that lasts as long as it is told, and notes when it ran.
#pragma once

#include <chrono>
#include <cstdint>

#include <penstock/clock.hpp>
#include <penstock/stream.hpp>

namespace course {

/// A kernel of one block for the CPU device and for models of GPUs. On a GPU the programs in plain CUDA do its work.
///
/// It must stay where it is until its stream is through.
class TimedKernel {
 public:
  void launch(penstock::StreamRef stream, std::chrono::nanoseconds duration = std::chrono::milliseconds(10)) {
    using penstock::Clock;
    // A model takes the time that the cost states, and the CPU device the time that the body takes.
    penstock::KernelCost const cost{.time = duration, .blocks = 1, .began = &began_, .ended = &ended_};
    if (stream.modelled())
      return stream.launch(
          1, [](std::uint32_t) {}, cost);
    stream.launch(1, [this, duration](std::uint32_t) {
      auto const began = Clock::now();
      while (Clock::now() < began + duration) {
      }
      began_ = static_cast<std::uint64_t>(began.time_since_epoch().count());
      ended_ = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
    });
  }
  /// True if it began when the other one had ended; false if the two ran at the same time, at least in part.
  ///
  /// Shape: both have ended.
  bool ran_after(TimedKernel const& other) const noexcept { return began_ >= other.ended_; }
  bool began_before(TimedKernel const& other) const noexcept { return began_ < other.began_; }
  char const* place_beside(TimedKernel const& other) const noexcept { return ran_after(other) ? "after" : "beside"; }

 private:
  std::uint64_t began_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace course
