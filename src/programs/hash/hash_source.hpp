// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/tile.hpp"
#include "programs/hash/deferred_files.hpp"
#include "programs/hash/file_walk.hpp"
#include "programs/hash/hash_book.hpp"

namespace penstock::cli {

/// Reads files for hashing, and reports them to the book.
///
/// A tile's tag is the number of its first 1024-byte chunk in its file, which the hash needs. With grouping a tile may
/// stand for several files instead of a part of one: `fill` opens these, which `next` does not even look at, and hashes
/// the small ones; the tile stays empty. Those that are not small are deferred to the next calls of `next`, which give
/// them tiles. So a tile that stands for a group must be filled, or the input does not end.
///
/// Threads: as Source; a function with a tile is for the thread that holds it.
class HashSource final : public Source, private FileObserver {
 public:
  /// The part of a file that a tile holds.
  struct Place {
    std::uint64_t file = 0;
    std::uint64_t tile = 0;
  };

  /// Counts of the files that were grouped.
  struct Grouped {
    std::uint64_t files = 0;  ///< Files that were hashed.
    std::uint64_t bytes = 0;  ///< Bytes of those files.
  };

  /// `next_file` is called by one thread at a time, and with grouping for several files before any of them is read. The
  /// source serves tiles of `pool`.
  HashSource(std::function<std::optional<WantedFile>()> next_file, Pool const& pool, HashBook& book,
             std::stop_token stop, FileGrouping grouping = {});

  /// Does what FileSource::serve does.
  void serve(Pool const& pool);

  /// Returns false also once `stop` is requested; the file that was begun is then abandoned.
  ///
  /// Blocks: until a stream has input, or `stop` is requested; at the end of the input until all groups are filled.
  /// Throws: what next_file throws. What is wrong with a file goes into the book.
  bool next(Tile& tile) override;
  /// For a tile that stands for a group, reads, hashes and books the files, and returns 0.
  ///
  /// Throws: std::runtime_error with a sentence about the file, without its name; of a group only what the book throws.
  std::size_t fill(Tile& tile) override;
  std::vector<std::string> remarks() const override { return files_.remarks(); }
  /// The place of a tile that `next` agreed to, and that stands for no group.
  Place place_of(Tile const& tile) const;
  /// The group that a tile stands for; null if it holds a part of a file.
  FileGroup const* group_of(Tile const& tile) const;
  /// Threads: any.
  Grouped grouped() const noexcept { return {grouped_files_.load(), grouped_bytes_.load()}; }
  /// True if a file was not read to its end, because `stop` was requested.
  ///
  /// Threads: any.
  bool cut_short() const noexcept { return cut_short_.load(); }

 private:
  /// Facts on a tile from `next` on.
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
  bool is_ready() const { return ahead_ || !grouping_.is_ready || grouping_.is_ready(); }
  std::size_t files_of_a_group() const noexcept;
  std::vector<GroupedFile> gather();
  bool goes_on(FileGroup& group);
  void hash(FileGroup& group, std::span<std::byte> room);
  bool defer(GroupedFile& grouped);
  void abandon(std::uint64_t file);
  std::optional<InputFile> next_wanted();
  void opened(std::uint64_t file, InputFile const& input) override;
  void failed(std::uint64_t file, FileProblem const& problem) override;
  void ended(std::uint64_t file, std::uint64_t tiles) override;
  void abandoned(std::uint64_t file, std::uint64_t tiles) override;

  std::function<std::optional<WantedFile>()> const next_file_;
  std::size_t const tile_bytes_;
  HashBook& book_;
  std::stop_token const stop_;
  FileGrouping const grouping_;
  std::array<Jobs, FileSource::most_pools> jobs_;
  std::atomic<std::size_t> pools_{0};
  std::mutex mutex_;  ///< Guards all members below, except those that lock themselves.
  DeferredFiles deferred_;
  std::optional<std::uint64_t> comes_again_;  ///< The number of the file that was wanted last, if it was deferred.
  std::optional<WantedFile> ahead_;           ///< The next file, which belongs to no group or to the next one.
  std::exception_ptr input_failed_;           ///< The exception of `next_file`.
  bool ended_ = false;                        ///< `next` has reported the end.
  std::uint64_t file_ = 0;                    ///< The number in the book of the file that `files_` reads, or read last.
  std::atomic<bool> within_file_{false};      ///< `files_` has not finished that file.
  std::atomic<std::uint64_t> grouped_files_{0}, grouped_bytes_{0}, deferred_files_{0};
  std::atomic<bool> cut_short_{false};
  std::string expected_;     ///< The sum expected of the file that was wanted last.
  std::string shown_;        ///< WantedFile::shown of that file.
  std::uint64_t lease_ = 0;  ///< WantedFile::lease of that file.
  FileSource files_;
};

}  // namespace penstock::cli
