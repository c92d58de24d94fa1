// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/file/open_file.hpp"
#include "penstock/file/read_queue.hpp"

namespace penstock {

/// How regular files are read.
enum class FileReading {
  automatic,  ///< Past the page cache where that gains and is possible, else plain.
  plain,      ///< Through the page cache.
  direct,  ///< Past the page cache (O_DIRECT), wherever that can be. The next reader does not find there what we read.
};

/// What is left as it is suits the machine. bench/file/reading_bench chose the numbers (decisions/0019).
struct FileReadingOptions {
  FileReading reading = FileReading::automatic;
  /// From which size of a tile on `automatic` reads past the page cache what that has not. Below, nothing makes good
  /// for the reading ahead that the page cache does.
  std::size_t direct_from = std::size_t{1} << 20;
  /// The most requests in flight for one tile. More than one takes io_uring, which gained nothing: the system itself
  /// has a disk work on all parts of a large read at once. It may where a file system does not. `automatic` still reads
  /// plainly what the page cache has.
  unsigned depth = 1;
  std::size_t piece_bytes = std::size_t{256} << 10;  ///< What one of several asks for; more if the depth demands it.
  /// Has io_uring pin all tiles once, and not for each request what it reads to. It takes locked memory as large as the
  /// tiles, for each producer, and saved a fifth of io_uring's CPU.
  bool registered = false;
};

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

/// True if at least half of these bytes of the file are in the page cache, or if the system does not say, as of
/// overlayfs.
///
/// Blocks: never; a microsecond.
bool in_page_cache(int descriptor, std::uint64_t offset, std::size_t bytes);

}  // namespace penstock
