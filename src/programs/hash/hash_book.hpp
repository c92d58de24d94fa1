// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/kernels.hpp"

namespace penstock::cli {

/// The cause of a file's problem, from the least to the worst.
enum class HashFault : std::uint8_t {
  file,     ///< The file itself: a second try has the same result.
  process,  ///< This process, which could not hash it; another may.
  device    ///< The loss of a device.
};

/// Result for one file.
struct HashedFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::optional<Blake3Digest> digest;  ///< Empty if there is a problem.
  std::string problem;                 ///< A sentence, or empty.
  bool cancelled = false;              ///< It was not hashed because the run was stopped.
  std::string expected;                ///< The run was stopped before it was hashed.
  std::string shown;                   ///< The sum of a check list, in hexadecimal; empty without one.
  HashFault fault = HashFault::file;   ///< The cause of the problem; the worst, if several tiles failed.
  std::uint64_t lease = 0;             ///< The same as WantedFile::lease.
};

/// Result for a file that was hashed in one go.
struct WholeFile {
  std::uint64_t number = 0;
  Blake3Digest digest = {};
  std::size_t bytes = 0;
  std::string problem = {};  ///< Reason why it was not hashed, or empty.
};

/// Puts tiles together to files, in whatever order the tiles return, and hands the files out in their order of input.
///
/// Keeps a record per file from its `open` until it and all before it are finished; a record holds as much as
/// Blake3Tree.
///
/// Threads: any. A file's number is good until the file was handed out.
class HashBook {
 public:
  using OnFile = std::function<void(HashedFile const&)>;
  using OnEnough = std::function<void()>;

  /// `on_file` is called once per file, one at a time, on the thread that finished it, and then `on_enough`, once all
  /// files that could be were handed out. They must not call the book.
  explicit HashBook(OnFile on_file, OnEnough on_enough = {});

  /// Begins a file and returns its number.
  std::uint64_t open(std::string path, std::string expected, std::string shown = {}, std::uint64_t lease = 0);
  /// Begins these files, one after the other, and returns the first one's number. Only `path`, `expected`, `shown`
  /// and `lease` count.
  std::uint64_t open(std::vector<HashedFile> files);
  /// Says that no more tiles of this file will begin; `tiles` did, at least one unless it has a problem.
  ///
  /// Blocks: while files are handed out; so do `abandon`, `add`, `fail` and `cancel`.
  /// Throws: what on_file and on_enough throw, as those do; that file was handed out all the same.
  void close(std::uint64_t file, std::uint64_t tiles);
  /// Closes a file that is not read to its end, because the run was stopped: the part that was read must not pass
  /// for all of it.
  void abandon(std::uint64_t file, std::uint64_t tiles);
  /// Adds a tile that returned hashed.
  ///
  /// Throws: Error of kind bad_argument, if it did before.
  void add(std::uint64_t file, std::uint64_t tile, Blake3Node const& node, std::size_t bytes);
  /// Adds the results of files of which no tile returned before and which are not closed. Files are handed out once for
  /// all of them.
  void add(std::span<WholeFile const> files);
  /// Notes a tile that returned without a result, for this reason.
  void fail(std::uint64_t file, std::string const& problem, HashFault fault = HashFault::file);
  /// Notes a tile that returned without a result, because the run was stopped.
  void cancel(std::uint64_t file);
  /// Notes a problem of the file itself; the first one counts. For a file that is not closed yet.
  void note(std::uint64_t file, std::string const& problem);
  /// True if each file that was opened has been handed out.
  bool empty() const;

 private:
  struct Record;
  Record& record(std::uint64_t file);
  void note_locked(Record& record, std::string const& problem);
  void hand_out();

  OnFile const on_file_;
  OnEnough const on_enough_;
  mutable std::mutex mutex_;
  std::deque<Record> records_;
  std::uint64_t first_ = 0;  ///< The number of the first record.
};

struct HashBook::Record {
  HashedFile file;
  Blake3Tree tree;
  std::optional<std::uint64_t> tiles;  ///< Known once closed.
  std::uint64_t back = 0;              ///< Tiles that returned.
};

}  // namespace penstock::cli
