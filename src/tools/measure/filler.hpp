// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/measure/setting.hpp"

namespace penstock::measure {

/// What Fill::memory copies from: made at the first request, which takes a quarter of a second, and kept for later
/// ones.
///
/// Threads: one.
class FillMemory {
 public:
  /// More than most caches hold, and no less than a tile.
  std::shared_ptr<std::vector<std::byte> const> for_tiles_of(std::size_t bytes);

 private:
  std::shared_ptr<std::vector<std::byte> const> kept_;
};

/// Fills tiles as a setting says.
///
/// Threads: any.
class Filler {
 public:
  /// `path` is read if the setting fills from a file, again from its start at its end. `memory` is asked if it fills
  /// from memory; null for some of its own.
  ///
  /// Throws: Error of kind bad_argument, if there is no such file, it cannot be read or is shorter than a tile.
  Filler(Setting const& setting, std::string const& path, FillMemory* memory = nullptr);
  Filler(Filler const&) = delete;
  Filler& operator=(Filler const&) = delete;
  ~Filler();

  /// False if tiles go as they are.
  bool fills() const noexcept { return how_ != Fill::none; }
  /// Puts bytes into `to`, and says how many: all of it.
  ///
  /// Throws: Error of kind system, if the file cannot be read any more.
  std::size_t fill(std::span<std::byte> to);

 private:
  Fill const how_;
  std::shared_ptr<std::vector<std::byte> const> memory_;  ///< Null but for Fill::memory.
  int file_ = -1;
  std::uint64_t pieces_ = 1;  ///< Tiles that memory or file has room for.
  std::string path_;
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

}  // namespace penstock::measure
