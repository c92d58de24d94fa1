// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/file/open_folder.hpp"
#include "tools/hash/hash_book.hpp"

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

/// One file that shall be hashed.
struct WantedFile {
  std::string path;
  std::string problem;                            ///< Why it cannot be, or empty.
  std::string expected;                           ///< What a check list says, or empty.
  std::string shown = {};                         ///< The path as that list has it, or empty.
  std::shared_ptr<OpenFolder const> folder = {};  ///< As InputFile::folder.
};

/// The bytes of a regular file that a thread should hash where it reads it; empty for all others. To open and read such
/// a file takes longer than to hash it, and a tile of its own would take longer still (decisions/0052).
///
/// Blocks: for a look at the file's status.
std::optional<std::size_t> small_file_bytes(WantedFile const& wanted, std::size_t most);

/// A file of a group, and its number in the HashBook.
struct GroupedFile {
  std::uint64_t number = 0;
  std::string path = {};
  std::shared_ptr<OpenFolder const> folder = {};
};

/// Reads a file into `room` and hashes it there. A file that has grown since it was found small may have as many bytes
/// as there is room.
///
/// Blocks: until it is read.
/// Throws: FileProblem.
WholeFile hash_small_file(GroupedFile const& file, std::span<std::byte> room);

/// Small files that one tile stands for: the thread that fills the tile reads and hashes them, one after the other, and
/// nothing of them goes to a device.
struct FileGroup {
  static constexpr std::size_t most_files = 128;
  static constexpr std::size_t most_file_bytes = std::size_t{256} << 10;
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< But for the last file of a group.
  static constexpr std::size_t most_folders = 8;  ///< Open until their files are read, for each producer.

  std::vector<GroupedFile> files = {};
  bool booked = false;      ///< The book was told of all of them.
  std::uint64_t bytes = 0;  ///< Hashed.
};

}  // namespace penstock::cli
