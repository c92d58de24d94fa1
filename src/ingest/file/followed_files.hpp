// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingest/file/change_watch.hpp"
#include "ingest/file/followed_file.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

/// Regular files that are read as they grow: a tile has bytes of one of them, alternately.
///
/// Threads: one at a time.
class FollowedFiles {
 public:
  /// `options` must outlive this.
  ///
  /// Throws: Error of kind bad_argument, if tiles are to overlap; of kind system, as ChangeWatch.
  FollowedFiles(FileSource::NextFile next_file, FileSourceOptions const& options, std::size_t tile_bytes);

  struct Next {
    FollowedFile::Next piece;
    std::shared_ptr<std::string const> name;
    std::optional<FileProblem> problem;  ///< Its file is no longer followed, for this reason.
  };
  /// Reads the next tile; nothing once a stop is requested, or no file is left that can be followed.
  ///
  /// Blocks: until there is a tile, or it returns nothing.
  /// Throws: exceptions of next_file and the observer.
  std::optional<Next> next(std::span<std::byte> tile);

  /// Losses of all files so far.
  RecordLoss loss() const;
  /// Number of records of which a truncation left only a part; they are unfinished in `loss`, too.
  std::uint64_t cut_records() const;
  /// Files that had a followed name and were gone before they could be read; truncations that are known to have removed
  /// data that was not read; rotations without events, which may hide more files.
  std::vector<LeftOut> left_out() const;
  /// Sentences on files that were truncated, or that may have been missed.
  std::vector<std::string> remarks() const;

 private:
  struct Member {
    std::unique_ptr<FollowedFile> file;
    std::shared_ptr<std::string const> name;
    std::uint64_t tiles = 0;
    std::optional<FileProblem> problem = {};  ///< It is not followed, for this reason.
    bool told = false;                        ///< The observer was notified of the problem, or of the end.
  };
  void open_all();
  void note_changes(std::optional<ChangeWatch::Clock::time_point> until);
  std::optional<Next> next_of(Member& member, std::uint64_t number, std::span<std::byte> tile);
  std::optional<Next> fail(Member& member, std::uint64_t number);
  bool any_left() const;
  bool any_changed() const;
  void abandon();

  FileSource::NextFile const next_file_;
  FileSourceOptions const& options_;
  std::size_t const tile_bytes_;
  ChangeWatch watch_;
  std::vector<Member> members_;
  bool opened_ = false;
  std::size_t turn_ = 0;
};

}  // namespace penstock
