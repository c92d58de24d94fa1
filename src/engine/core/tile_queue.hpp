// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "engine/core/atomics.hpp"

namespace penstock {

/// A queue of tile numbers, each of them in it at most once. A pushed number must not be in the queue, and
/// all numbers have room. The queue allocates only when it is made.
///
/// A place holds a number and the lap it belongs to, in one word. A thread that pops reads the word before it claims
/// the place, so a place may be written as soon as it is claimed. Places are counted in 64 bits, which do not wrap
/// around while a thread stands still: no thread takes a later lap for its own.
///
/// Shape:   half a Word holds the number of a tile, the other half the lap.
/// Threads: any. A push waits for no other thread. A pop does not see what was pushed behind a push that is not over;
/// the thread that ends that push does.
template <class Atomics = StandardAtomics, std::unsigned_integral Word = std::uint64_t>
class BasicTileQueue {
 public:
  explicit BasicTileQueue(std::size_t tiles)
      : places_(std::bit_ceil(tiles)), words_(std::make_unique<Atomic[]>(places_)) {}
  BasicTileQueue(BasicTileQueue const&) = delete;
  BasicTileQueue& operator=(BasicTileQueue const&) = delete;

  void push(std::uint32_t tile) noexcept {
    // The place that it gives was claimed by the thread that popped it last, because the tile that comes now was not in
    // the queue. acq_rel: each push sees what the ones before it had seen when they popped, and so the older word comes
    // before the newer.
    Word const place = last_.fetch_add(1, std::memory_order_acq_rel);
    // Release: the thread that pops the tile sees what its last holder did.
    words_[place % places_].store(word_of(place, tile), std::memory_order_release);
  }
  /// Takes the first number, if there is one.
  std::optional<std::uint32_t> pop() noexcept {
    // Acquire: it sees what the pops before this place saw, or it would take an old word for the one of this place.
    Word place = first_.load(std::memory_order_acquire);
    for (;;) {
      Word const word = words_[place % places_].load(std::memory_order_acquire);
      if (word >> half == lap_of(place)) {
        if (first_.compare_exchange_weak(place, static_cast<Word>(place + 1), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
          return static_cast<std::uint32_t>(word & lap_mask);
        }
        continue;
      }
      // Another thread may have popped from this place since, while tiles lie in the next ones.
      Word const now = first_.load(std::memory_order_acquire);
      if (now == place) return std::nullopt;
      place = now;
    }
  }
  /// The number of tiles, including those that are being pushed. Exact when no other thread pushes or pops.
  std::size_t size() const noexcept {
    Word const first = first_.load(std::memory_order_acquire);
    return static_cast<Word>(last_.load(std::memory_order_acquire) - first);
  }
  bool empty() const noexcept {
    Word const place = first_.load(std::memory_order_acquire);
    return words_[place % places_].load(std::memory_order_acquire) >> half != lap_of(place);
  }

 private:
  using Atomic = typename Atomics::template Atomic<Word>;
  static constexpr int half = std::numeric_limits<Word>::digits / 2;
  static constexpr Word lap_mask = static_cast<Word>((Word{1} << half) - 1);

  /// A lap in the upper half, a tile in the lower one. Computed in 64 bits: a narrow word would become a signed int.
  Word word_of(Word place, std::uint32_t tile) const noexcept {
    return static_cast<Word>(std::uint64_t{lap_of(place)} << half | tile);
  }
  /// Laps count from 1, so that a place that was never written belongs to no lap.
  Word lap_of(Word place) const noexcept { return static_cast<Word>((place / places_ + 1) & lap_mask); }

  std::size_t const places_;  ///< A power of two, so that places continue where the count wraps around.
  std::unique_ptr<Atomic[]> words_;
  alignas(64) Atomic first_{0};  ///< In its own cache line: some threads push while others pop.
  alignas(64) Atomic last_{0};
};

using TileQueue = BasicTileQueue<>;

}  // namespace penstock
