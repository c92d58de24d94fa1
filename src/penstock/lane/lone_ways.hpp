// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace penstock {

/// How a small batch that finds nothing of its lane on the device gets there and back; the first that may be is taken
/// until times say otherwise.
enum class LoneWay : std::uint8_t {
  mapped,      ///< Not at all: the stage works on the tiles themselves.
  one_stream,  ///< By copies, with all steps in the compute stream, though the lane has three.
  copied,      ///< By copies, as any other batch.
};

/// Which way lone batches take, by what others of about their size took from the call to the news. After a few that do
/// not count, the ways that may be are tried in turn, and the one with the least median is kept. Sizes are alike if
/// they are between the same powers of two.
///
/// Threads: the lane's.
class LoneWays {
 public:
  static constexpr unsigned warm_up = 8;   ///< Batches of a size that do not count: the first load what they launch.
  static constexpr unsigned samples = 16;  ///< Times of each way.
  static constexpr std::size_t most_bytes = std::size_t{1} << 19;  ///< All above are alike.

  /// For a batch of so many bytes, up and down; `copied` may always be.
  LoneWay choose(std::size_t bytes, bool may_map, bool may_take_one_stream) noexcept;
  /// Tells it what a batch took that was alone from its first call until the lane, awake, knew it to be through.
  void took(std::size_t bytes, LoneWay way, std::chrono::nanoseconds time) noexcept;

 private:
  static constexpr std::size_t ways = 3;
  /// Of batches of about one size.
  struct Tried {
    unsigned warmed = 0;
    std::array<unsigned, ways> counts{};
    std::array<std::array<std::chrono::nanoseconds, samples>, ways> times{};
    std::optional<LoneWay> best = {};
  };
  static std::chrono::nanoseconds median(std::array<std::chrono::nanoseconds, samples>& times) noexcept;
  Tried& tried(std::size_t bytes) noexcept;

  std::array<Tried, 21> sizes_;
};

}  // namespace penstock
