// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace penstock::cli {

/// One thing to hash, or a reason why not.
struct FoundFile {
  std::string path;
  std::string problem;  ///< Empty, or why it cannot be hashed.
};

/// Turns the paths of a command line into files, one by one: a file as it is, a directory as all regular files below
/// it.
///
/// Within a directory files come in the byte order of their paths, as `find DIR -type f | LC_ALL=C sort` prints them.
/// Symbolic links below a directory are passed over; named on the command line they are followed. What else is found
/// below a directory (sockets, pipes, devices) and what cannot be read comes with a problem. Holds the names of one
/// directory per level, nothing more.
///
/// Threads: one at a time.
class FileWalk {
 public:
  explicit FileWalk(std::vector<std::string> paths);
  /// The next file; empty at the end.
  std::optional<FoundFile> next();

 private:
  struct Entry {
    std::string path;
    bool directory = false;
    std::string problem;
  };
  void open(std::string const& directory);

  std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  /// What is still to come of each directory that we are in, last first.
  std::vector<std::vector<Entry>> levels_;
};

}  // namespace penstock::cli
