// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

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

}  // namespace penstock
