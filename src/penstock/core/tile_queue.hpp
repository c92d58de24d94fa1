// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace penstock {

/// Numbers of tiles in the order they came, each at most once: what is pushed must be out, and all there are fit in. It
/// allocates only when it is made.
///
/// A place holds a number and the lap it belongs to, in one word. Whoever pops reads the word before it claims the
/// place, so a place may be written as soon as it is claimed, and 64 bits count the places: nobody can mistake a later
/// lap for its own.
///
/// Threads: any. To push never waits for anybody. To pop does not see what was pushed behind a push that is not over;
/// whoever ends that one does.
class TileQueue {
 public:
  explicit TileQueue(std::size_t tiles)
      : places_(std::bit_ceil(tiles)), words_(std::make_unique<std::atomic<std::uint64_t>[]>(places_)) {}
  TileQueue(TileQueue const&) = delete;
  TileQueue& operator=(TileQueue const&) = delete;

  void push(std::uint32_t tile) noexcept {
    // The place that it gives was claimed by who popped it last, because the tile that comes now was not in the queue.
    // acq_rel: of those who push, each sees what the ones before it had seen when they popped, and so the older word
    // comes before the newer.
    std::uint64_t const place = last_.fetch_add(1, std::memory_order_acq_rel);
    // Release: who pops the tile sees what its last holder did.
    words_[place % places_].store(lap_of(place) << 32 | tile, std::memory_order_release);
  }
  /// The first, if there is one.
  std::optional<std::uint32_t> pop() noexcept {
    std::uint64_t place = first_.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t const word = words_[place % places_].load(std::memory_order_acquire);
      if (word >> 32 == lap_of(place)) {
        if (first_.compare_exchange_weak(place, place + 1, std::memory_order_acq_rel)) {
          return static_cast<std::uint32_t>(word);
        }
        continue;
      }
      std::uint64_t const now = first_.load(std::memory_order_acquire);
      if (now == place) return std::nullopt;
      place = now;
    }
  }
  bool empty() const noexcept {
    std::uint64_t const place = first_.load(std::memory_order_acquire);
    return words_[place % places_].load(std::memory_order_acquire) >> 32 != lap_of(place);
  }

 private:
  /// From 1 on, so that a place that was never written is of none; of 32 bits.
  std::uint64_t lap_of(std::uint64_t place) const noexcept { return (place / places_ + 1) & 0xffff'ffffU; }

  std::size_t const places_;  ///< A power of two, so that places go on where the count begins anew.
  std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
  alignas(64) std::atomic<std::uint64_t> first_{0};  ///< Apart: some push while others pop.
  alignas(64) std::atomic<std::uint64_t> last_{0};
};

}  // namespace penstock
