// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Ways of a batch to its stage and back.
enum class TransferPath : std::uint8_t {
  mapped,  ///< No copy: the stage works on the tiles themselves, and `landed` is behind the stage.
  copied,  ///< Copies, in the lane's streams.
};

/// Maximum of bytes for Transport::automatic, up and down, of mapped tiles in flight at once. Many mapped tiles at once
/// are slower than batches of copies, and take the device's multiprocessors for as long as the link
/// (docs/decisions/latency.md).
inline constexpr std::size_t most_mapped_bytes = std::size_t{256} << 10;
/// Maximum for a single tile that finds nothing of its lane on the device: the largest that was measured. Its steps
/// could overlap with nothing, so it is through sooner without copies at each size up to this
/// (docs/decisions/latency.md).
inline constexpr std::size_t most_lone_mapped_bytes = std::size_t{32} << 20;
inline constexpr std::size_t unbounded_mapped_bytes = std::numeric_limits<std::size_t>::max();

/// True if a stage may be given the tile's own memory, or what it stands for.
bool is_aligned_for(Tile const& tile, Stage const& stage);

/// The places at which a device sees the tiles of a pool; it is asked once for each tile, and each time for memory
/// that a tile stands for.
///
/// Threads: the lane's.
class MappedTiles {
 public:
  /// Serves one pool of `tiles` tiles. The device outlives it.
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
  std::vector<Known> tiles_;  ///< Tiles by index.
};

/// Chooses the path of each batch of one lane.
///
/// Invariant: no batch is mapped while a copied one is in flight, as it would land first, and tiles retire in their
///            order. With Transport::automatic and a bound, mapped tiles in flight have no more bytes than the bound,
///            unless it is a single one.
/// Threads:   the lane's.
class PathChooser {
 public:
  /// Serves a pool of `tiles` tiles. `bound` is the maximum of bytes of mapped tiles in flight at once, for
  /// Transport::automatic; a lone tile may have most_lone_mapped_bytes.
  PathChooser(Device& device, Transport transport, std::size_t bound, TileShape shape, std::size_t tiles);

  /// The path of the batch that comes next on the device; `put` is the number of the last tile there, `retired` of the
  /// last that is through.
  TransferPath choose(std::span<Loan const> loans, Stage const& stage, std::uint64_t put, std::uint64_t retired);
  /// Calls MappedTiles::find.
  std::optional<TileParts> find(Tile const& tile) { return pool_.find(tile); }
  /// Counts bytes of mapped tiles that are on the device, or are through.
  void begin_mapped(std::size_t bytes) noexcept { mapped_bytes_ += bytes; }
  void end_mapped(std::size_t bytes) noexcept { mapped_bytes_ -= bytes; }

 private:
  std::size_t bytes_of(std::span<Loan const> loans) const;
  bool may_be_mapped(std::span<Loan const> loans, Stage const& stage);

  Transport const transport_;
  std::size_t const bound_;
  TileShape const shape_;
  std::vector<std::size_t> const more_inputs_;
  MappedTiles pool_;
  std::uint64_t youngest_copied_ = 0;  ///< The last tile that was not mapped.
  std::size_t mapped_bytes_ = 0;       ///< Bytes of mapped tiles in flight, both ways.
};

}  // namespace penstock
