// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ingest/file/change_watch.hpp"
#include "ingest/file/input_cut.hpp"
#include "ingest/file/rotated_files.hpp"
#include "ingest/file/seen_bytes.hpp"
#include "ingest/file/text_head.hpp"
#include "ingest/framing/stream_cutter.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

/// One name of a regular file that is read as the file grows; the name may later refer to another file.
///
/// The file is read until the name refers to another one that has bytes, then to its end; then the other one is read.
/// Data that a writer adds to the old file until it first writes to the new one is thus not lost. Files that had the
/// name in between are found by their current names.
///
/// Threads: one at a time.
class FollowedFile {
 public:
  using Clock = ChangeWatch::Clock;

  /// The object is owner number `number` at `watch`. `options` and `watch` must outlive this. `look_for_changes` makes
  /// it note the reports of the watch.
  FollowedFile(InputFile const& input, std::uint64_t number, FileSourceOptions const& options, std::size_t tile_bytes,
               ChangeWatch& watch, std::function<void()> look_for_changes);
  FollowedFile(FollowedFile const&) = delete;
  FollowedFile& operator=(FollowedFile const&) = delete;

  std::string const& name() const noexcept { return name_; }
  /// Notes a report of the watch for its owner.
  void note(ChangeWatch::News const& news) { changed_ = files_.note(news) || changed_; }
  /// True if something may have changed since the last look began.
  bool changed() const noexcept { return changed_; }
  /// Updates the state of the file and its name, if that is not known.
  ///
  /// Throws: FileProblem, without the name: it cannot be followed, or not any more.
  void look();
  /// Time of the next read; nothing: only after a change.
  std::optional<Clock::time_point> due() const;

  struct Next {
    FileSource::Place place;
    std::size_t bytes = 0;
    std::shared_ptr<InputCut> cut = {};
    TileRecords records = {};  ///< Set with a framing.
  };
  /// Reads the available data, as much as the tile takes; nothing if that is no whole record, or was the end of a file.
  ///
  /// Throws: as look; and if records cannot be found.
  std::optional<Next> read(std::span<std::byte> tile);

  /// Stops reading and watching it.
  void give_up() noexcept;

  RecordLoss loss() const;
  /// Number of truncations found.
  std::uint64_t truncations() const noexcept { return truncations_; }
  /// Number of truncations that are known to have removed bytes that were not read, or a record of which only a part
  /// was there; and the number of these bytes.
  std::uint64_t cut_truncations() const noexcept { return cut_truncations_; }
  std::uint64_t cut_bytes() const noexcept { return cut_bytes_; }
  /// Number of records of which a truncation left only a part; they are unfinished in `loss`, too.
  std::uint64_t cut_records() const noexcept { return cut_records_; }
  RotatedFiles const& files() const noexcept { return files_; }

 private:
  void begin_generation();
  void begin_again();
  bool is_plain();
  bool begin_records();
  void cut_by(Framing::OfInput const& of, bool ends_by_cr = false);

  std::string const name_;
  std::uint64_t const number_;
  FileSourceOptions const& options_;
  std::size_t const tile_bytes_;
  RotatedFiles files_;

  bool changed_ = true;                      ///< True if something changed since the last look began.
  RotatedFiles::Open const* now_ = nullptr;  ///< The file that is read.
  bool ending_ = false;                      ///< True: it is to be read to its end.
  std::uint64_t generation_ = 0;
  std::uint64_t size_ = 0, position_ = 0;
  std::uint64_t removed_ = 0;               ///< If the last look found the file smaller: its unread bytes before that.
  SeenBytes seen_;                          ///< Bytes in front of the position.
  std::optional<Clock::time_point> since_;  ///< Time at which bytes behind the position were first seen.
  std::uint64_t truncations_ = 0, cut_truncations_ = 0, cut_bytes_ = 0, cut_records_ = 0;
  bool known_plain_ = true;  ///< True: its first bytes are not compressed, or need no check.

  std::shared_ptr<InputCut> cut_;  ///< Set with a framing, once it is known.
  std::optional<StreamCutter> cutter_;
  RecordLoss loss_;  ///< Losses of earlier cutters.
};

}  // namespace penstock
