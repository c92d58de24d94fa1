// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "penstock/lane/batch_way.hpp"

namespace penstock {

/// Chooses the way of small batches that may be mapped and find nothing of their lane on the device. It goes by the
/// time that others of about their size took from the call to the news. The first few are mapped and do not count; then
/// both ways are tried in turns, forth and back, and the way with the lower median is kept. Sizes are alike if they are
/// between the same powers of two.
///
/// If the lane did not watch a batch to its end, only a lower bound of its time is known. The bound says much if the
/// lane fell asleep over the batch, and little if the next batch came soon behind. So the batch counts as its bound
/// where its way is the one to be left, and as for ever where its way is the one to be taken. Then the way that is
/// taken was faster whatever these batches took, and where few are watched to their end nothing changes
/// (decisions/0036).
///
/// Threads: the lane's.
class LoneWays {
 public:
  static constexpr unsigned warm_up = 8;   ///< Batches of a size that do not count: the first load what they launch.
  static constexpr unsigned samples = 16;  ///< Times of each way.
  static constexpr std::size_t most_bytes = std::size_t{1} << 19;  ///< All above are alike.

  /// For a batch of so many bytes, up and down.
  BatchWay choose(std::size_t bytes) noexcept;
  /// Tells it the time of a batch that was alone from its first call until the lane, awake, knew it to be through;
  /// nanoseconds::max() for one that failed.
  void took(std::size_t bytes, BatchWay way, std::chrono::nanoseconds time) noexcept;
  /// The same for a batch that was not watched to its end: it took longer than this.
  void took_longer(std::size_t bytes, BatchWay way, std::chrono::nanoseconds than) noexcept;

 private:
  static constexpr std::size_t ways = 2;
  using Times = std::array<std::chrono::nanoseconds, samples>;
  /// Of batches of about one size.
  struct Tried {
    unsigned warmed = 0;
    std::array<unsigned, ways> counts{};
    std::array<Times, ways> least{};  ///< What each took at least,
    std::array<Times, ways> most{};   ///< and at most.
    std::optional<BatchWay> best = {};

    /// Of the ways that have `round` times, the one that is next.
    BatchWay turn(unsigned round) const noexcept;
  };
  void note(std::size_t bytes, BatchWay way, std::chrono::nanoseconds at_least,
            std::chrono::nanoseconds at_most) noexcept;
  static std::chrono::nanoseconds median(Times& times) noexcept;
  Tried& tried(std::size_t bytes) noexcept;

  std::array<Tried, 21> sizes_;
};

}  // namespace penstock
