// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/options.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// How a batch gets to its stage and back. PathTimes prefers the first.
enum class TransferPath : std::uint8_t {
  mapped,  ///< No copy: the stage works on the tiles themselves, and `landed` is behind the stage.
  copied,  ///< By copies, in the lane's streams.
};

/// For Transport::automatic: the most bytes, up and down, of mapped tiles in flight at once. Below that, a lone batch
/// goes the path that took least time for others of its size (PathTimes). One at a time, mapped tiles are through
/// sooner than copied tiles below and above this size, by a third at this size (bench/records/records_bench,
/// `one_at_a_time`), and they take the device's multiprocessors for as long as the link (decisions/0023).
inline constexpr std::size_t most_mapped_bytes = std::size_t{256} << 10;
inline constexpr std::size_t unbounded_mapped_bytes = std::numeric_limits<std::size_t>::max();

/// Chooses the path of small batches that may be mapped and find nothing of their lane on the device. It goes by the
/// time that others of about their size took from the call to the news. The first few are mapped and do not count; then
/// both paths are tried in turns, forth and back, and the path with the lower median is kept. Sizes are alike if they
/// are between the same powers of two.
///
/// If the lane did not watch a batch to its end, only a lower bound of its time is known. The bound says much if the
/// lane fell asleep over the batch, and little if the next batch came soon behind. So the batch counts as its bound
/// where its path is the one to be left, and as for ever where its path is the one to be taken. Then the path that is
/// taken was faster whatever these batches took, and where few are watched to their end nothing changes
/// (decisions/0036).
///
/// Threads: the lane's.
class PathTimes {
 public:
  static constexpr unsigned warm_up = 8;   ///< Batches of a size that do not count: the first load what they launch.
  static constexpr unsigned samples = 16;  ///< Times of each path.
  static constexpr std::size_t most_bytes = std::size_t{1} << 19;  ///< All above are alike.

  /// For a batch of so many bytes, up and down.
  TransferPath choose(std::size_t bytes) noexcept;
  /// Tells it the time of a batch that was alone from its first call until the lane, awake, knew it to be through;
  /// nanoseconds::max() for one that failed.
  void took(std::size_t bytes, TransferPath path, std::chrono::nanoseconds time) noexcept;
  /// The same for a batch that was not watched to its end: it took longer than this.
  void took_longer(std::size_t bytes, TransferPath path, std::chrono::nanoseconds than) noexcept;

 private:
  static constexpr std::size_t paths = 2;
  using Times = std::array<std::chrono::nanoseconds, samples>;
  /// Of batches of about one size.
  struct Tried {
    unsigned warmed = 0;
    std::array<unsigned, paths> counts{};
    std::array<Times, paths> least{};  ///< What each took at least,
    std::array<Times, paths> most{};   ///< and at most.
    std::optional<TransferPath> best = {};

    /// Of the paths that have `round` times, the one that is next.
    TransferPath turn(unsigned round) const noexcept;
  };
  void note(std::size_t bytes, TransferPath path, std::chrono::nanoseconds at_least,
            std::chrono::nanoseconds at_most) noexcept;
  static std::chrono::nanoseconds median(Times& times) noexcept;
  Tried& tried(std::size_t bytes) noexcept;

  std::array<Tried, 21> sizes_;
};

/// Where a device itself sees the tiles of a pool; the device is asked once for each tile.
///
/// Threads: the lane's.
class MappedTiles {
 public:
  /// For tiles of one pool, which has so many. The device outlives it.
  MappedTiles(Device& device, std::size_t tiles) : device_(device), tiles_(tiles) {}

  /// The parts in the device's addresses. Empty if the device does not see the tile's memory, because that was not
  /// pinned.
  ///
  /// Throws: as Device::mapped.
  std::optional<TileParts> find(Tile const& tile);

 private:
  struct Known {
    bool asked = false;
    std::optional<TileParts> parts = {};
  };
  std::optional<TileParts> see(Tile const& tile);

  Device& device_;
  std::vector<Known> tiles_;  ///< By index.
};

/// Chooses the path of each batch of one lane, and watches the time of those that have a choice.
///
/// Invariant: no batch is mapped while a copied one is in flight, as it would land first, and tiles retire in their
///            order. With Transport::automatic and a bound, mapped tiles in flight have no more bytes than the bound.
/// Threads:   the lane's.
class PathChooser {
 public:
  using Clock = std::chrono::steady_clock;
  /// For a pool of so many tiles. `bound`: the most bytes of mapped tiles in flight at once, for Transport::automatic.
  PathChooser(Device& device, Transport transport, std::size_t bound, TileShape shape, std::size_t tiles);

  /// For a batch that comes next on the device; `put` is the number of the last tile there, `retired` of the last that
  /// is through.
  TransferPath choose(std::span<Loan const> loans, Stage const& stage, std::uint64_t put, std::uint64_t retired);
  /// As MappedTiles::find.
  std::optional<TileParts> find(Tile const& tile) { return pool_.find(tile); }
  /// So many bytes of mapped tiles are on the device, or are through.
  void begin_mapped(std::size_t bytes) noexcept { mapped_bytes_ += bytes; }
  void end_mapped(std::size_t bytes) noexcept { mapped_bytes_ -= bytes; }

  /// The time of the batch that was chosen for last says nothing of its path.
  void discount() noexcept { lone_bytes_ = 0; }
  /// The lane watches that batch, which is alone on the device, from `since` on. Nothing happens if its time says
  /// nothing, since there was no choice.
  void watch(Clock::time_point since) noexcept {
    if (lone_bytes_ > 0) since_ = since;
  }
  /// True if the lane watches a batch.
  bool watches() const noexcept { return since_.has_value(); }
  /// The watched batch is through, alone until now. One that failed counts as for ever: a path that fails would often
  /// be through soonest.
  void through(Clock::time_point now, bool failed) noexcept;
  /// The lane watches the batch no longer: from now on another is with it, or the lane sleeps.
  void cut_off(Clock::time_point now, bool failed) noexcept;

 private:
  std::size_t bytes_of(std::span<Loan const> loans) const;
  bool may_be_mapped(std::span<Loan const> loans, Stage const& stage);

  Transport const transport_;
  std::size_t const bound_;
  TileShape const shape_;
  std::vector<std::size_t> const more_inputs_;
  MappedTiles pool_;
  PathTimes times_;
  std::uint64_t youngest_copied_ = 0;         ///< The last tile that was not mapped.
  std::size_t mapped_bytes_ = 0;              ///< Of mapped tiles in flight, both ways.
  TransferPath path_ = TransferPath::copied;  ///< Of the batch that was chosen for last.
  std::size_t lone_bytes_ = 0;                ///< Its bytes up and down, if its time counts.
  /// Since when that batch is alone on the device and the lane has not slept.
  std::optional<Clock::time_point> since_;
};

}  // namespace penstock
