// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/file/open_folder.hpp"

namespace penstock::cli {

/// One thing to hash, or a reason why not.
struct FoundFile {
  std::string path = {};
  std::string problem = {};  ///< Empty, or why it cannot be hashed.
  /// Where it was found, by the last part of its path; null for what was named on the command line.
  std::shared_ptr<OpenFolder const> folder = {};
};

/// Turns the paths of a command line into files, one by one: a file as it is, a directory as all regular files below
/// it.
///
/// Within a directory files come in the byte order of their paths, as `find DIR -type f | LC_ALL=C sort` prints them.
/// Symbolic links below a directory are passed over; named on the command line they are followed. What else is found
/// below a directory (sockets, pipes, devices) and what cannot be read comes with a problem. Below a directory no link
/// is followed, also where one took a directory's place a moment ago, and paths may be of any length. Holds the names
/// of one directory per level, and few descriptors.
///
/// Threads: one at a time.
class FileWalk {
 public:
  explicit FileWalk(std::vector<std::string> paths);
  /// The next file; empty at the end.
  std::optional<FoundFile> next();

 private:
  /// A directory that we are in.
  struct Level {
    std::string path;
    std::shared_ptr<OpenFolder const> folder = {};  ///< Null while too many below it are open.
    OpenFolder::Identity identity = {};             ///< Known while `folder` is null.
    std::vector<OpenFolder::Entry> to_come = {};    ///< Last first.
  };
  std::optional<FoundFile> enter(std::string path, OpenFolder const* in, std::string const& name);
  std::optional<FoundFile> leave();

  std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  std::vector<Level> levels_;
};

}  // namespace penstock::cli
