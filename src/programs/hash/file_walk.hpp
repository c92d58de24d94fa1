// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

#include "ingest/file/open_folder.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/operate/shard.hpp"
#include "programs/hash/hash_book.hpp"

namespace penstock::cli {

/// One thing to hash, or a reason why not.
struct FoundFile {
  std::string path = {};
  std::string problem = {};  ///< Reason why it cannot be hashed, or empty.
  mode_t kind = 0;           ///< One of S_IFMT, as far as the walk saw it; 0 if it did not.
  /// Folder where it was found, by the last part of its path; null for a file that was named on the command line.
  std::shared_ptr<OpenFolder const> folder = {};
};

/// Turns the paths of a command line into files, one by one: a file into itself, a directory into all regular files
/// below it.
///
/// Within a directory files come in the byte order of their paths, as `find DIR -type f | LC_ALL=C sort` prints them.
/// Symbolic links below a directory are passed over; named on the command line they are followed. Other files below a
/// directory (sockets, pipes, devices) and files that cannot be read come with a problem. Below a directory no link is
/// followed, also if one took a directory's place a moment ago, and paths may be of any length. Holds the names of one
/// directory per level, and few descriptors.
///
/// Threads: one at a time.
class FileWalk {
 public:
  /// Shape: of all that is found, one in `shard.count`.
  explicit FileWalk(std::vector<std::string> paths, Shard shard = {});
  /// The next file; empty at the end.
  std::optional<FoundFile> next();
  /// Symbolic links that were passed over so far.
  ///
  /// Threads: any.
  std::uint64_t links() const noexcept { return links_.load(std::memory_order_relaxed); }
  Shard const& shard() const noexcept { return shard_; }

 private:
  /// A directory that we are in.
  struct Level {
    std::string path;
    std::shared_ptr<OpenFolder const> folder = {};  ///< Null while too many below it are open.
    OpenFolder::Identity identity = {};             ///< Known while `folder` is null.
    std::vector<OpenFolder::Entry> to_come = {};    ///< Entries to come, the last one first.
  };
  std::optional<FoundFile> find();
  std::optional<FoundFile> enter(std::string path, OpenFolder const* in, std::string const& name);
  std::optional<FoundFile> leave();

  std::vector<std::string> paths_;
  Shard const shard_;
  std::size_t found_ = 0;
  std::size_t next_path_ = 0;
  std::vector<Level> levels_;
  std::atomic<std::uint64_t> links_{0};
};

/// One file that shall be hashed.
struct WantedFile {
  std::string path;
  std::string problem;                            ///< Reason why it cannot be hashed, or empty.
  std::string expected;                           ///< The sum of a check list, or empty.
  std::string shown = {};                         ///< The path as that list has it, or empty.
  std::shared_ptr<OpenFolder const> folder = {};  ///< The same as InputFile::folder.
  mode_t kind = 0;                                ///< The same as FoundFile::kind.
  std::uint64_t lease = 0;                        ///< Which of its leases a LedgerHash gave it with; 0: none.
  bool left_out = false;                          ///< It is no input after all.

  /// False for what is known to be no regular file: standard input, a pipe, a device.
  bool may_be_file() const noexcept { return path != "-" && (kind == 0 || S_ISREG(kind)); }
};

/// A file of a group, and its number in the HashBook.
struct GroupedFile {
  std::uint64_t number = 0;
  InputFile input = {};   ///< Its path is a name if there is a folder.
  bool regular = false;   ///< It was seen to be regular, so that opening it has no effect on others.
  bool deferred = false;  ///< It needs tiles of its own.
};

/// Opens a file, and if it is a small one reads it into `room` and hashes it there. Opening and reading such a file
/// takes longer than hashing it, and a tile of its own would take longer still (docs/decisions/hash.md). Empty for a
/// file that needs tiles of its own: it is larger than FileGroup::most_file_bytes or than `room`, not regular, or says
/// it is empty and is not.
///
/// Blocks: until it is read.
/// Throws: FileProblem.
std::optional<WholeFile> hash_small_file(GroupedFile const& file, std::span<std::byte> room);

/// Files that one tile stands for: the thread that fills the tile opens them one after the other, and reads and hashes
/// the small ones. They do not go to a device.
struct FileGroup {
  static constexpr std::size_t most_files = 128;
  static constexpr std::size_t most_file_bytes = std::size_t{256} << 10;
  static constexpr std::size_t usual_bytes = std::size_t{1} << 20;  ///< Reached if its files are as large as those
                                                                    ///< before.
  static constexpr std::size_t most_folders = 8;  ///< Folders that stay open until their files are read, for each
                                                  ///< producer.

  std::vector<GroupedFile> files = {};
  bool booked = false;      ///< The book has all files that are not deferred.
  std::uint64_t bytes = 0;  ///< Bytes that were hashed, also of groups that the tile stood for before.
};

/// Says if files are grouped, and for how long a tile that stands for a group goes on with the groups that follow: its
/// way through a pipeline takes as long as some files.
struct FileGrouping {
  bool wanted = false;
  /// Says if the next file, or the end of the input, is there. A group must not wait for it where that comes only once
  /// files of the group are done. Null: it always is.
  std::function<bool()> is_ready = {};
  std::chrono::nanoseconds goes_on_for = std::chrono::milliseconds(10);
};

}  // namespace penstock::cli
