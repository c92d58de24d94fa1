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
#include "penstock/file/file_source.hpp"

namespace penstock::cli {

/// One file that shall be hashed.
struct WantedFile {
  std::string path;
  std::string problem;                            ///< Why it cannot be, or empty.
  std::string expected;                           ///< What a check list says, or empty.
  std::string shown = {};                         ///< The path as that list has it, or empty.
  std::shared_ptr<OpenFolder const> folder = {};  ///< As InputFile::folder.
};

/// Reads files for hashing, and tells the book of them.
///
/// A tile's tag is the number of its first 1024-byte chunk in its file, as the hash needs it.
///
/// Threads: as Source; `place_of` is for whoever holds the tile.
class HashSource final : public Source, private FileObserver {
 public:
  /// Which part of which file a tile holds.
  struct Place {
    std::uint64_t file = 0;
    std::uint64_t tile = 0;
  };

  /// `next_file` is called by one thread at a time. For tiles of `pool`.
  HashSource(std::function<std::optional<WantedFile>()> next_file, Pool const& pool, HashBook& book,
             std::stop_token stop);

  /// As FileSource::serve.
  void serve(Pool const& pool) { files_.serve(pool); }

  /// Also false once `stop` is requested; the file that was begun is then abandoned.
  ///
  /// Blocks: until a stream has input, or `stop` is requested.
  /// Throws: what next_file throws. What is wrong with a file goes into the book.
  bool next(Tile& tile) override;
  /// Throws: std::runtime_error with a sentence about the file, without its name.
  std::size_t fill(Tile& tile) override;
  std::vector<std::string> remarks() const override { return files_.remarks(); }
  /// For a tile that `next` agreed to.
  Place place_of(Tile const& tile) const;

 private:
  std::optional<InputFile> next_wanted();
  void opened(std::uint64_t file, InputFile const& input) override;
  void failed(std::uint64_t file, FileProblem const& problem) override;
  void ended(std::uint64_t file, std::uint64_t tiles) override;
  void abandoned(std::uint64_t file, std::uint64_t tiles) override;

  std::function<std::optional<WantedFile>()> const next_file_;
  std::size_t const tile_bytes_;
  HashBook& book_;
  std::string expected_;  ///< Of the file that was wanted last.
  std::string shown_;     ///< Likewise.
  FileSource files_;
};

}  // namespace penstock::cli
