// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/file/open_file.hpp"
#include "penstock/file/read_queue.hpp"

namespace penstock {

/// How a tile came to be filled.
enum class ReadWay { plain, uring, direct, direct_uring };

/// Reads pieces of regular files in the way that suits each, and plainly where nothing else can be had.
///
/// Whatever a faster way leaves undone, because a request came back short, was interrupted or refused, is read plainly.
///
/// Threads: one at a time.
class FileReader {
 public:
  /// `memory` is what it will mostly read to, for queues that want to know. `open_queue` is called when one is first
  /// needed.
  FileReader(FileReadingOptions const& options, std::span<std::byte> memory, OpenReadQueue const& open_queue)
      : options_(options), memory_(memory), open_queue_(open_queue) {}

  /// As OpenFile::read_at.
  std::size_t read(OpenFile& file, std::uint64_t offset, std::span<std::byte> to);

  /// Calls of `read` so far that went this way.
  std::uint64_t count(ReadWay way) const noexcept { return counts_.at(static_cast<std::size_t>(way)); }
  /// Why some went another way than they might have; each a part of a sentence.
  std::vector<std::string> const& reasons() const noexcept { return reasons_; }

 private:
  bool wants_direct(OpenFile const& file, std::uint64_t offset, std::size_t bytes);
  std::optional<DirectAccess> direct(OpenFile& file, std::uint64_t offset, std::span<std::byte> to);
  ReadQueue* queue();
  std::size_t read_pieces(OpenFile& file, int descriptor, std::size_t alignment, std::uint64_t offset,
                          std::span<std::byte> to);
  void note(ReadWay way) { ++counts_.at(static_cast<std::size_t>(way)); }
  void note(std::string const& reason);

  FileReadingOptions const options_;
  std::span<std::byte> const memory_;
  OpenReadQueue const& open_queue_;
  bool asked_for_queue_ = false;
  std::unique_ptr<ReadQueue> queue_;  ///< Null before it was asked for, and if there is none.
  std::vector<PieceRead> pieces_;
  std::array<std::uint64_t, 4> counts_{};
  std::vector<std::string> reasons_;
};

/// As many readers as have ever read at once: a producer that reads has one, and so a queue of requests, for itself.
///
/// Threads: any.
class FileReaders {
 public:
  /// As FileReader.
  FileReaders(FileReadingOptions const& options, std::span<std::byte> memory, OpenReadQueue open_queue)
      : options_(options), memory_(memory), open_queue_(std::move(open_queue)) {}
  FileReaders(FileReaders const&) = delete;
  FileReaders& operator=(FileReaders const&) = delete;

  /// As OpenFile::read_at, by a reader that no other thread uses.
  std::size_t read(OpenFile& file, std::uint64_t offset, std::span<std::byte> to);
  /// How many pieces were read in which way, and why some not in a faster one, as a sentence; empty if there were none.
  std::string describe();

 private:
  FileReadingOptions const options_;
  std::span<std::byte> const memory_;
  OpenReadQueue const open_queue_;
  std::mutex mutex_;
  std::deque<FileReader> readers_;
  std::vector<FileReader*> idle_;
};

/// True if at least half of these bytes of the file are in the page cache, or if the system does not say, as of
/// overlayfs.
///
/// Blocks: never; a microsecond.
bool in_page_cache(int descriptor, std::uint64_t offset, std::size_t bytes);

}  // namespace penstock
