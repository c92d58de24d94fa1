// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "penstock/core/event_count.hpp"

namespace penstock {

/// Rundown protection: lets any number of threads in while it is open, and closes once the last of them has left.
///
/// Who comes in and leaves writes to one of several counts, each in a cache line of its own, so that threads that do so
/// for every tile do not wait for one another.
///
/// Threads: any.
class Rundown {
 public:
  /// Leaves when it dies, if it came in.
  class Pass {
   public:
    explicit Pass(Rundown& rundown) noexcept : count_(rundown.enter()), rundown_(rundown) {}
    Pass(Pass const&) = delete;
    Pass& operator=(Pass const&) = delete;
    ~Pass() {
      if (count_ != nullptr) rundown_.leave(*count_);
    }
    explicit operator bool() const noexcept { return count_ != nullptr; }

   private:
    std::atomic<std::uint64_t>* const count_;
    Rundown& rundown_;
  };

  explicit Rundown(bool open) noexcept : open_(open) {}
  Rundown(Rundown const&) = delete;
  Rundown& operator=(Rundown const&) = delete;

  void open() noexcept { open_.store(true, std::memory_order_seq_cst); }
  /// From here on nobody comes in. False if it was closed already.
  ///
  /// Blocks: until all who are in have left; so never while one is in oneself.
  bool close();

 private:
  struct alignas(64) Count {
    std::atomic<std::uint64_t> inside{0};
  };

  std::atomic<std::uint64_t>* enter() noexcept;
  void leave(std::atomic<std::uint64_t>& count) noexcept;
  bool anybody_inside() const noexcept;

  std::array<Count, 16> counts_;
  std::atomic<bool> open_;
  EventCount left_;
};

}  // namespace penstock
