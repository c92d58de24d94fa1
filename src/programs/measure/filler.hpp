// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/descriptor.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::measure {

/// Ways in which producers fill each tile.
enum class Fill : std::uint8_t {
  none,    ///< No filling: the tile is sent as it is.
  memory,  ///< memcpy from ordinary memory, more than caches hold.
  file,    ///< read(2) of a file, again from its start at its end.
  busy,    ///< Computing for a stated time, as the work that a program's producers do on each tile. Fills nothing.
};

/// Memory that Fill::memory copies from: made at the first request, which takes a quarter of a second, and kept for
/// later ones.
///
/// Threads: one.
class FillMemory {
 public:
  /// Memory larger than most caches, and no smaller than a tile.
  std::shared_ptr<std::vector<std::byte> const> for_tiles_of(std::size_t bytes);

 private:
  std::shared_ptr<std::vector<std::byte> const> kept_;
};

/// The source of the built-in job: it fills tiles in one of these ways, and has no end.
///
/// Threads: any.
class Filler final : public Source {
 public:
  /// Fills tiles of `tile` bytes. `path` is read if they are filled from a file, again from its start at its end.
  /// `memory` is asked if they are filled from memory; null for some of its own. `busy` is the processor time that a
  /// tile takes with Fill::busy.
  ///
  /// Throws: Error of kind bad_argument, if there is no such file, it cannot be read or is shorter than a tile.
  Filler(Fill how, std::size_t tile, std::string const& path, FillMemory* memory = nullptr,
         std::chrono::nanoseconds busy = {});
  Filler(Filler const&) = delete;
  Filler& operator=(Filler const&) = delete;

  bool next(Tile&) override { return true; }
  std::size_t fill(Tile& tile) override { return fill(tile.input()); }
  /// Fills all of `to`, and returns its size.
  ///
  /// Throws: Error of kind system, if the file cannot be read any more.
  std::size_t fill(std::span<std::byte> to);

 private:
  Fill const how_;
  std::shared_ptr<std::vector<std::byte> const> memory_;  ///< Null except for Fill::memory.
  Descriptor file_;
  std::uint64_t pieces_ = 1;  ///< Tiles that memory or file has room for.
  std::string path_;
  std::chrono::nanoseconds const busy_;
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

}  // namespace penstock::measure
