// SPDX-License-Identifier: Apache-2.0
// Files, pipes and sockets as the source of a pipeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/framing.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

class OpenFolder;

/// What others did to a file while it was being read.
enum class FileChange { none, shrank, grew, changed, relinked };

/// Why a file cannot be read, or what it gave cannot be used.
class FileProblem : public Error {
 public:
  /// `sentence` does not name the file.
  explicit FileProblem(std::string sentence, FileChange change = FileChange::none)
      : Error(ErrorKind::system, sentence), sentence_(std::move(sentence)), change_(change) {}
  /// The same problem, in a text that begins with the file's name.
  FileProblem(std::string const& name, FileProblem const& problem)
      : Error(problem.kind(), name + ": " + problem.sentence_),
        sentence_(problem.sentence_),
        change_(problem.change_) {}

  /// Without the file's name.
  std::string const& sentence() const noexcept { return sentence_; }
  FileChange change() const noexcept { return change_; }

 private:
  std::string sentence_;
  FileChange change_;
};

/// How regular files are read.
enum class FileReading {
  automatic,  ///< Past the page cache where that gains and is possible, else plain.
  plain,      ///< Through the page cache.
  direct,  ///< Past the page cache (O_DIRECT), wherever that can be. The next reader does not find there what we read.
};

/// What is left as it is suits the machine. bench/file/reading_bench chose the number (docs/decisions/files.md).
struct FileReadingOptions {
  FileReading reading = FileReading::automatic;
  /// From which size of a tile on `automatic` reads past the page cache what that has not. Below, nothing makes good
  /// for the reading ahead that the page cache does.
  std::size_t direct_from = std::size_t{1} << 20;
};

/// One file that a FileSource is to read.
struct InputFile {
  std::string path = {};               ///< `-` is standard input. With a descriptor only a name, for messages.
  std::optional<int> descriptor = {};  ///< Open already: it is read instead of `path`, and left open.
  /// Where it is to be found: the last part of `path` is a regular file there, and no link. Null: by all of `path`.
  std::shared_ptr<OpenFolder const> folder = {};
  std::optional<FileProblem> problem = {};  ///< Why it cannot be read, if that is known.
};

/// Is told what becomes of a FileSource's files, in their order; those that are decoded may end in another one. Files
/// are numbered from 0.
///
/// Threads: the producers, one at a time.
/// Throws:  anything; the input then ends, as by Source::next.
class FileObserver {
 public:
  virtual ~FileObserver() = default;
  /// The source gets to this file.
  virtual void opened(std::uint64_t file, InputFile const& input) = 0;
  /// It cannot be opened, or not be read on as a stream; `ended` follows.
  virtual void failed(std::uint64_t file, FileProblem const& problem) = 0;
  /// It has this many tiles, of which the last may not have been filled yet.
  virtual void ended(std::uint64_t file, std::uint64_t tiles) = 0;
  /// It is not read to its end, because the source was stopped.
  virtual void abandoned(std::uint64_t file, std::uint64_t tiles) = 0;
};

struct FileSourceOptions {
  /// Ends the input, also where it waits for a pipe. What was read of a pipe leaves with its tile; a record of it that
  /// has begun is counted as unfinished.
  std::stop_token stop = {};
  /// Is told, besides the thread that gets the tiles; it outlives the source. Null: none, and a file that cannot be
  /// read gets a tile that fails.
  FileObserver* observer = nullptr;
  FileReadingOptions reading = {};
  /// How long the first bytes of a pipe, socket or terminal wait for others to fill their tile; what is there at once
  /// goes with them. Empty: until the tile is full or the stream ends, so that all tiles but the last are full.
  std::optional<std::chrono::microseconds> linger = std::chrono::microseconds(0);
  /// How the bytes are records: a tile then has whole records only, and its place is that of the first one. Null: the
  /// bytes are cut anywhere. If tiles have a second input, it gets where the records of the tile begin (RecordPlaces).
  FramingRef framing = {};
  /// A record fits if it is no larger than a tile, wherever it begins.
  LongRecords long_records = LongRecords::refuse;
  /// A tile begins with so many bytes again that the tile before it in its file ends with, or with all that are before
  /// if there are fewer: for work that looks at neighbours, or for what may lie across tiles. They count as bytes of
  /// both tiles. At most half of a tile; with a framing, a number of whole records that are all of one size.
  std::size_t overlap = 0;
  /// Regular files are read on as they grow, all at once, until `stop`: as logs are that a program writes and that are
  /// renamed or truncated now and then. A name that means no file yet is waited for. Not with an overlap.
  bool follow = false;
  /// Inputs whose first bytes say that they are compressed by gzip, zstd or lz4 are decoded: bytes, places, records and
  /// overlaps are those of what they decode to. One that is compressed otherwise (xz, bzip2, zip; docs/sources.md has
  /// all) fails in its place, and with `follow` each that is compressed. Without this all inputs are read as they are.
  bool decompress = false;
  /// Inputs are text, and `framing` is `lines()`. A byte order mark of UTF-8 is left out. Lines that end by "\r" alone
  /// are found, and end with "\n" in their tiles: they are there if the first 64 KiB, or the first bytes for a tile if
  /// that is smaller, have no "\n". An input in UTF-16 or UTF-32 that has a byte order mark fails in its place.
  bool text = false;
};

/// Feeds a pipeline with files, one after the other, each cut into tiles.
///
/// Regular files are read by all producers at once, in the way that suits each, and their tiles begin at multiples of a
/// tile's input, less the overlap: all but the last are full. Pipes and other streams are read by one producer, and a
/// tile leaves with what there is, unless `linger` says otherwise. An empty file is one empty tile. A tile's tag is the
/// number of its file. A file that cannot be opened or read, or that shrinks, grows or changes while it is read, fails
/// in its place: one of its tiles fails with a sentence, and the other files go on. With a framing a file may grow, as
/// a log does: it is read up to the last whole record that it had when it was opened, and a remark says so.
///
/// With a framing, tiles hold whole records, so they are not quite full, and some may be empty. Regular files are still
/// read by all producers at once if records end with a delimiter, are all of one size, or lead from one to the next and
/// can be found (Framing::finds_records); otherwise as streams are. Of a file that is damaged what is in front of the
/// damage is read, as of a stream. Behind the tile with the damage records are looked for, and what is found is read,
/// too. That a file is damaged, or has records that found no room in its tiles, shows once all of it has been read:
/// tiles for that may come behind those of other files.
///
/// Files that are followed are read by one producer, and a tile leaves `linger` after its first byte was written, or
/// when it is full. Where a name comes to mean another file, as by log rotation, the old file is read to its end once
/// the new one has bytes, and then the new one from its beginning; the last record of the old one ends there. A file
/// that becomes smaller than what was read of it is read from its beginning again, and a remark says so; what was
/// written before and not read is lost. Changes are those of which inotify tells: not what is written through a
/// mapping, or by another host of a network file system.
///
/// Regular files that are decoded are read each by one producer, several of them at once, so tiles of different files
/// may take turns; those of one file are in its order, and the last one may be empty. Of a file of which parts can be
/// found without decoding them, several producers decode parts at once: members of gzip that say their size (BGZF),
/// frames of zstd or lz4, and blocks of lz4 that do not depend on each other. zlib, libzstd and liblz4 are loaded when
/// a file needs them. Data that are damaged, cut short or followed by other bytes, that need a window above 128 MiB, or
/// whose library is not there, fail in their place. Of each file the source keeps up to 256 MiB that it has decoded
/// ahead.
///
/// Threads: as Source; `place_of` is for the thread that holds the tile.
class FileSource final : public Source {
 public:
  /// Gives the next file; nothing at the end. Called by the producers, one at a time.
  using NextFile = std::function<std::optional<InputFile>()>;

  /// Which part of which file a tile holds.
  struct Place {
    std::uint64_t file = 0;    ///< Files are numbered from 0, in the order of the input.
    std::uint64_t offset = 0;  ///< Of the tile's first byte.
    /// Of files that are followed: how often the name has come to mean another file, or the file was truncated.
    std::uint64_t generation = 0;
  };

  /// How many pools one source can feed.
  static constexpr std::size_t most_pools = 4;

  /// For tiles of this pool, which outlives the source.
  ///
  /// Throws: Error of kind bad_argument, if its tiles have no input, no room for records of the framing, or cannot
  /// overlap as the options say; of kind system, if files are to be followed and the system cannot watch more.
  FileSource(NextFile next_file, Pool const& pool, FileSourceOptions options = {});
  FileSource(std::vector<std::string> const& paths, Pool const& pool, FileSourceOptions options = {});
  FileSource(FileSource const&) = delete;
  FileSource& operator=(FileSource const&) = delete;
  ~FileSource() override;

  /// Is also for tiles of `pool`, which outlives the source too: so one input can be shared out to several pipelines.
  /// They must see to it that one thread at a time calls `next`.
  ///
  /// Shape:   its tiles have as much input as those of the first.
  /// Threads: one at a time; others may be at tiles of the other pools.
  /// Throws:  Error of kind bad_argument, if they have not, or if there are most_pools already.
  void serve(Pool const& pool);

  /// Also false once a stop is requested, and what was read of a pipe has left.
  ///
  /// Blocks:  until a stream or a file that is followed has input, or a stop is requested; while others fill tiles of
  ///          all files that are decoded, and only a stream or nothing is left, until one of them has.
  /// Throws:  what next_file and the observer throw, the latter also in a `fill` before.
  bool next(Tile& tile) override;
  /// Shape:  each tile that `next` agreed to is filled, by any thread.
  /// Blocks: where records lead from one to the next, as those of captures, until the tiles in front of it in the same
  ///         file have been filled: a thread that fills several of them does so in their order.
  /// Throws: FileProblem that begins with the file's name.
  std::size_t fill(Tile& tile) override;
  /// How many tiles were read in which way, and files decoded, and why some not in a faster one.
  std::vector<std::string> remarks() const override;
  /// Records and files that no tile has, and why.
  ///
  /// Threads: as `loss`.
  std::vector<LeftOut> left_out() const override;
  /// Records that did not come through whole.
  ///
  /// Threads: any, while none is in `next`, nor in `fill` if files are decoded.
  RecordLoss loss() const;
  /// For a tile that `next` agreed to; with a framing, or if files are decoded, once it is filled.
  Place place_of(Tile const& tile) const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

/// All of a text, read once from its beginning to its end: a file, a pipe or another stream. It is decoded if it is
/// compressed, and as FileSourceOptions::text says.
///
/// Blocks: until a pipe has ended, or a stop is requested.
/// Throws: FileProblem that begins with the name, if it cannot be read, has more than 1 GiB, or a stop came first.
std::string read_text(std::string const& path, std::stop_token const& stop = {});

}  // namespace penstock
