// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/cli/hash_book.hpp"
#include "penstock/cli/open_file.hpp"
#include "penstock/flow/source.hpp"

namespace penstock::cli {

/// One file that shall be hashed.
struct WantedFile {
  std::string path;
  std::string problem;   ///< Why it cannot be, or empty.
  std::string expected;  ///< What a check list says, or empty.
};

/// Cuts files into tiles. Regular files are read by many producers at once, streams by one.
///
/// A tile's tag is the number of its first 1024-byte chunk in its file, as the hash needs it.
///
/// Threads: as Source; `place_of` is for whoever holds the tile.
class HashSource final : public Source {
 public:
  /// Which part of which file a tile holds.
  struct Place {
    std::uint64_t file = 0;
    std::uint64_t tile = 0;
  };

  /// `next_file` is called by one thread at a time. `tiles` is how many the pool has.
  HashSource(std::function<std::optional<WantedFile>()> next_file, std::size_t tile_bytes, std::size_t tiles,
             HashBook& book, std::stop_token stop);

  /// Also false once `stop` is requested; the file that was begun is then abandoned.
  ///
  /// Blocks: until a stream has input, or `stop` is requested.
  /// Throws: what next_file throws. What is wrong with a file goes into the book.
  bool next(Tile& tile) override;
  /// Throws: std::runtime_error with a sentence about the file, without its name.
  std::size_t fill(Tile& tile) override;
  /// For a tile that `next` agreed to.
  Place place_of(Tile const& tile) const { return jobs_.at(tile.index()).place; }

 private:
  struct Job {
    Place place;
    std::shared_ptr<OpenFile> file;  ///< Null if `next` has filled the tile already.
    std::size_t bytes = 0;
  };
  bool open_next();
  bool next_of_stream(Tile& tile);
  void give(Tile& tile, std::size_t bytes, bool filled);
  void end_file();

  std::function<std::optional<WantedFile>()> const next_file_;
  std::size_t const tile_bytes_;
  HashBook& book_;
  std::stop_token const stop_;
  std::vector<Job> jobs_;

  std::shared_ptr<OpenFile> current_;
  std::uint64_t current_number_ = 0;
  std::uint64_t current_tiles_ = 0;  ///< Tiles given out so far.
};

}  // namespace penstock::cli
