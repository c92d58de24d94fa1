// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/descriptor.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Result of running a lost device's tile again.
enum class Fate : std::uint64_t { not_tried, running, innocent, guilty };

/// A tile of a lost device, in a file that processes share. The bytes of its inputs follow, one input after the other,
/// padded to whole words.
///
/// Threads: `fate` any; the rest belongs to the process that runs the tiles, until that has ended.
struct LostTile {
  std::uint64_t sequence = 0;
  std::uint64_t tag = 0;
  std::uint64_t lane = 0;
  std::array<std::uint64_t, 1 + most_more_inputs> filled = {};
  std::atomic<Fate> fate{Fate::not_tried};
  std::array<char, 32> stage = {};    ///< Failure::stage of a guilty tile.
  std::array<char, 480> reason = {};  ///< Failure::reason of a guilty tile.

  std::uint64_t bytes() const noexcept;
};

/// Copies a text into a field, cut to its size.
void put_text(std::span<char> field, std::string_view text) noexcept;

/// The head of the file.
struct LostTilesHeader {
  static constexpr std::uint64_t right_magic = 0x3173656C69747370;  // "pstiles1".
  std::uint64_t magic = right_magic;
  TileShape shape = {};
  std::atomic<std::uint64_t> began{0};  ///< Number of processes that reached the pipeline.
  std::array<char, 480> problem = {};   ///< The reason why the last process did not try all tiles; empty if there is
                                        /// none.
};

/// The file, as one process maps it.
///
/// Threads: one.
class LostTilesView {
 public:
  /// Throws: Error of kind system, if it cannot be mapped or is no such file.
  explicit LostTilesView(int file);
  LostTilesView(LostTilesView const&) = delete;
  LostTilesView& operator=(LostTilesView const&) = delete;
  ~LostTilesView();

  LostTilesHeader& header() const noexcept { return *reinterpret_cast<LostTilesHeader*>(bytes_.data()); }
  std::vector<LostTile*> const& tiles() const noexcept { return tiles_; }
  /// The filled bytes of one of its inputs.
  static std::span<std::byte const> input(LostTile const& tile, std::size_t which) noexcept;

 private:
  std::span<std::byte> bytes_;
  std::vector<LostTile*> tiles_;
};

/// Copies of the tiles that lost devices had in flight. They are made when their lanes give them up: pinned memory
/// belongs to the host, and outlives a device. Before that it stores nothing.
///
/// Threads: any.
class LostTiles {
 public:
  explicit LostTiles(TileShape shape) noexcept : shape_(shape) {}

  void keep(Tile const& tile, unsigned lane) noexcept;
  /// Tiles without a copy, because there was no memory.
  std::vector<std::uint64_t> const& missing() const noexcept { return missing_; }
  /// A descriptor of the file, or -1 if there were no tiles.
  int file() const noexcept { return file_.number; }

 private:
  bool write(void const* from, std::size_t bytes) noexcept;

  TileShape const shape_;
  std::mutex mutex_;
  Descriptor file_;
  std::uint64_t end_ = 0;
  std::vector<std::uint64_t> missing_;
};

}  // namespace penstock
