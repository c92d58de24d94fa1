// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/core/pool.hpp"
#include "penstock/files.hpp"
#include "penstock/tile.hpp"
#include "tools/command/progress.hpp"
#include "tools/hash/file_walk.hpp"
#include "tools/hash/hash_book.hpp"

namespace penstock::cli {

/// Reads files for hashing, and tells the book of them.
///
/// A tile's tag is the number of its first 1024-byte chunk in its file, as the hash needs it. With `groups` a tile may
/// stand for several small files in place of a part of one: `fill` hashes these, and the tile stays empty.
///
/// Threads: as Source; what tells of a tile is for the thread that holds it.
class HashSource final : public Source, private FileObserver {
 public:
  /// Which part of which file a tile holds.
  struct Place {
    std::uint64_t file = 0;
    std::uint64_t tile = 0;
  };

  /// What became of the files that were grouped.
  struct Grouped {
    std::uint64_t files = 0;  ///< Hashed.
    std::uint64_t bytes = 0;  ///< Of those.
  };

  /// `next_file` is called by one thread at a time, and with `groups` for several files before any of them is read. For
  /// tiles of `pool`.
  HashSource(std::function<std::optional<WantedFile>()> next_file, Pool const& pool, HashBook& book,
             std::stop_token stop, bool groups = false);

  /// As FileSource::serve.
  void serve(Pool const& pool);

  /// Also false once `stop` is requested; the file that was begun is then abandoned.
  ///
  /// Blocks: until a stream has input, or `stop` is requested.
  /// Throws: what next_file throws. What is wrong with a file goes into the book.
  bool next(Tile& tile) override;
  /// Of a tile that stands for a group it reads, hashes and books the files, and returns 0.
  ///
  /// Throws: std::runtime_error with a sentence about the file, without its name; of a group only what the book throws.
  std::size_t fill(Tile& tile) override;
  std::vector<std::string> remarks() const override { return files_.remarks(); }
  /// For a tile that `next` agreed to, and that stands for no group.
  Place place_of(Tile const& tile) const;
  /// The group that a tile stands for; null if it holds a part of a file.
  FileGroup const* group_of(Tile const& tile) const;
  /// Threads: any.
  Grouped grouped() const noexcept { return {grouped_files_.load(), grouped_bytes_.load()}; }

 private:
  /// What is known of a tile from `next` on.
  struct Job {
    std::uint64_t file = 0;  ///< Its number in the book, if there is no group.
    FileGroup group = {};
  };
  /// One for each tile of a pool.
  struct Jobs {
    Pool const* pool = nullptr;
    std::vector<Job> of_tile = {};
  };
  Job const& job_of(Tile const& tile) const;
  Job& job_of(Tile const& tile) { return const_cast<Job&>(std::as_const(*this).job_of(tile)); }
  std::optional<WantedFile> take_wanted();
  void gather(FileGroup& group);
  void hash(FileGroup& group, std::span<std::byte> room);
  std::optional<InputFile> next_wanted();
  void opened(std::uint64_t file, InputFile const& input) override;
  void failed(std::uint64_t file, FileProblem const& problem) override;
  void ended(std::uint64_t file, std::uint64_t tiles) override;
  void abandoned(std::uint64_t file, std::uint64_t tiles) override;

  std::function<std::optional<WantedFile>()> const next_file_;
  std::size_t const tile_bytes_;
  HashBook& book_;
  std::stop_token const stop_;
  bool const groups_;
  std::array<Jobs, FileSource::most_pools> jobs_;
  std::atomic<std::size_t> pools_{0};
  std::optional<WantedFile> ahead_;  ///< The next one, which was looked at and belongs to no group.
  std::exception_ptr input_failed_;  ///< What `next_file` threw behind the files of a group.
  std::uint64_t file_ = 0;           ///< The number in the book of the one that `files_` is at, or was at last.
  bool within_file_ = false;         ///< `files_` is not through with it.
  std::atomic<std::uint64_t> grouped_files_{0}, grouped_bytes_{0};
  std::string expected_;  ///< Of the file that was wanted last.
  std::string shown_;     ///< Likewise.
  FileSource files_;
};

/// Books the tiles that come back, and ends the input when there is no device left to hash it.
///
/// Threads: one at a time.
class HashSink {
 public:
  /// `enough` must be what `source` listens to. `no_device_left` is asked when the loss of a device failed a tile.
  HashSink(
      HashSource const& source, HashBook& book, Progress& progress, std::stop_source enough,
      std::function<bool()> no_device_left = [] { return true; });

  /// Books a tile. If the loss of the last device failed it this also asks `enough`, because nothing else wakes a
  /// producer that waits for input.
  ///
  /// Throws: what the book throws.
  void take(Completion const& completion);

 private:
  void take(FileGroup const& group, Completion const& completion);
  void stop_without_device(Completion const& completion);

  HashSource const& source_;
  HashBook& book_;
  Progress& progress_;
  std::stop_source enough_;
  std::function<bool()> no_device_left_;
};

}  // namespace penstock::cli
