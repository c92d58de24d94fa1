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
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/ingest/framing.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

class OpenFolder;

/// A change that others made to a file while it was read.
enum class FileChange { none, shrank, grew, changed, relinked };

/// The reason why a file cannot be read, or its data cannot be used.
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

  /// The sentence without the file's name.
  std::string const& sentence() const noexcept { return sentence_; }
  FileChange change() const noexcept { return change_; }

 private:
  std::string sentence_;
  FileChange change_;
};

/// Method of reading regular files.
enum class FileReading {
  automatic,  ///< Direct where that is faster and possible, else plain.
  plain,      ///< Through the page cache.
  direct,     ///< Bypasses the page cache (O_DIRECT) wherever possible. The data read is then not cached for the next
              /// reader.
};

/// The defaults suit the machine. bench/ingest/file/reading_bench chose the number (docs/decisions/files.md).
struct FileReadingOptions {
  FileReading reading = FileReading::automatic;
  /// Minimum tile size at which `automatic` bypasses the page cache for data that is not cached. Below it, the page
  /// cache's read-ahead is faster.
  std::size_t direct_from = std::size_t{1} << 20;
};

/// Bytes of a regular file from `begin` to `end`, which begin and end with records.
struct FileRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(FileRange const&, FileRange const&) = default;
};

/// One file that a FileSource is to read.
struct InputFile {
  std::string path = {};               ///< `-` is standard input. With a descriptor only a name, for messages.
  std::optional<int> descriptor = {};  ///< Open already: it is read instead of `path`, and left open.
  /// Folder that contains the file: the last part of `path` must be a regular file there, and no link. Null: `path` is
  /// opened as it is.
  std::shared_ptr<OpenFolder const> folder = {};
  std::optional<FileProblem> problem = {};  ///< The reason why it cannot be read, if already known.
  /// Only these bytes are read, in tiles whose places are those in the file. The file is regular, not compressed, and
  /// has records of one size or with a delimiter, or no framing; any other fails in its place. Empty: all of it.
  std::optional<FileRange> range = {};
};

/// Is notified of the progress of a FileSource's files, in their order; files that are decoded may end in another
/// order. Files are numbered from 0.
///
/// Threads: the producers, one at a time.
/// Throws:  anything; the input then ends, as by Source::next.
class FileObserver {
 public:
  virtual ~FileObserver() = default;
  /// The source gets to this file.
  virtual void opened(std::uint64_t file, InputFile const& input) = 0;
  /// The file cannot be opened, or its stream cannot be read further; `ended` follows.
  virtual void failed(std::uint64_t file, FileProblem const& problem) = 0;
  /// The file has this number of tiles; the last one may not be filled yet.
  virtual void ended(std::uint64_t file, std::uint64_t tiles) = 0;
  /// The file is not read to its end, because the source was stopped.
  virtual void abandoned(std::uint64_t file, std::uint64_t tiles) = 0;
};

struct FileSourceOptions {
  /// Ends the input, also while it waits for a pipe. Data already read from a pipe leaves with its tile; a record of it
  /// that has begun is counted as unfinished.
  std::stop_token stop = {};
  /// Is notified, in addition to the thread that gets the tiles; it must outlive the source. Null: none, and a file
  /// that cannot be read gets a tile that fails.
  FileObserver* observer = nullptr;
  FileReadingOptions reading = {};
  /// Time that the first bytes of a pipe, socket or terminal wait for others to fill their tile; bytes that are
  /// available at once are included. Empty: no limit, the tile waits until it is full or the stream ends, so all tiles
  /// but the last are full.
  std::optional<std::chrono::microseconds> linger = std::chrono::microseconds(0);
  /// Framing of the bytes: a tile then has whole records only, and its place is that of the first one. Null: the bytes
  /// are cut anywhere. If tiles have a second input, it gets the places of the tile's records (RecordPlaces).
  FramingRef framing = {};
  /// A record fits if it is no larger than a tile, wherever it begins.
  LongRecords long_records = LongRecords::refuse;
  /// Number of bytes at the end of the preceding tile of the file that a tile begins with again (all of them if there
  /// are fewer), for work that looks at neighbours or for matches that may cross tiles. They count as bytes of both
  /// tiles. At most half a tile; with a framing, a number of whole records that are all of one size.
  std::size_t overlap = 0;
  /// Regular files are followed as they grow, all at once, until `stop`: log files, for instance, which may be renamed
  /// or truncated. A name without a file is waited for. Not together with an overlap.
  bool follow = false;
  /// Inputs are decoded if their first bytes show that they are compressed by gzip, zstd or lz4: bytes, places, records
  /// and overlaps are then those of the decoded data. An input in another compression (xz, bzip2, zip; docs/sources.md
  /// lists them) fails in its place, and with `follow` every compressed one. False: all inputs are read as they are.
  bool decompress = false;
  /// Inputs are text, and `framing` is `lines()`. A UTF-8 byte order mark is skipped. Lines that end with "\r" alone
  /// are recognised if the first 64 KiB (or the first tile, if that is smaller) have no "\n"; they end with "\n" in
  /// their tiles. An input in UTF-16 or UTF-32 with a byte order mark fails in its place.
  bool text = false;
};

/// Feeds a pipeline with files, one after the other, each cut into tiles.
///
/// All producers read regular files at once, each file in the way that suits it, and their tiles begin at multiples of
/// a tile's input, less the overlap: all but the last are full. One producer reads pipes and other streams, and a tile
/// leaves with the data that is there, unless `linger` says otherwise. An empty file is one empty tile. A tile's tag is
/// the number of its file. A file that cannot be opened or read, or that shrinks, grows or changes while it is read,
/// fails in its place: one of its tiles fails with a sentence, and the other files continue. With a framing a file may
/// grow, as a log does: it is read up to the last whole record that it had when it was opened, and a remark says so.
///
/// With a framing, tiles hold whole records, so they are not quite full, and some may be empty. All producers still
/// read regular files at once if records end with a delimiter, are all of one size, or lead from one to the next and
/// can be found (Framing::finds_records); otherwise files are read as streams are. A damaged file is read up to the
/// damage, as a stream is. Records behind the tile with the damage are searched for and read as well. Damage, and
/// records that found no room in their tiles, are reported once the whole file has been read: the tiles for that may
/// follow tiles of other files.
///
/// One producer reads the files that are followed. A tile leaves `linger` after its first byte was written, or when it
/// is full. When a name refers to a new file, as after log rotation, the old file is read to its end once the new one
/// has bytes, then the new one from its beginning; the last record of the old file ends there. A file that becomes
/// smaller than what was read of it is read from its beginning again, and a remark says so; data that was written
/// before and not read is lost, and `left_out` counts the truncation if the source had seen such data. Changes are
/// noticed by inotify: writes through a mapping, or by another host of a network file system, are not.
///
/// Each regular file that is decoded is read by one producer, several files at once, so tiles of different files may
/// alternate; those of one file are in order, and the last one may be empty. If parts of a file can be found without
/// decoding them, several producers decode parts at once: members of gzip that state their size (BGZF), frames of zstd
/// or lz4, and independent blocks of lz4. zlib, libzstd and liblz4 are loaded when a file needs them. Data fails in its
/// place if it is damaged, truncated or followed by other bytes, needs a window above 128 MiB, or its library is
/// missing. The source keeps up to 256 MiB of decoded data per file.
///
/// Threads: as Source; `place_of` is for the thread that holds the tile.
class FileSource final : public Source {
 public:
  /// Gives the next file; nothing at the end. Called by the producers, one at a time.
  using NextFile = std::function<std::optional<InputFile>()>;

  /// The part of a file that a tile holds.
  struct Place {
    std::uint64_t file = 0;    ///< Files are numbered from 0, in the order of the input.
    std::uint64_t offset = 0;  ///< Offset of the tile's first byte.
    /// Number of times that the name of a followed file has changed to another file, or that the file was truncated.
    std::uint64_t generation = 0;
  };

  /// Maximum number of pools that one source can feed.
  static constexpr std::size_t most_pools = 4;

  /// Makes a source for tiles of this pool, which must outlive the source.
  ///
  /// Throws: Error of kind bad_argument, if its tiles have no input, no room for records of the framing, or cannot
  /// overlap as the options say; of kind system, if files are to be followed and the system cannot watch more.
  FileSource(NextFile next_file, Pool const& pool, FileSourceOptions options = {});
  FileSource(std::vector<std::string> const& paths, Pool const& pool, FileSourceOptions options = {});
  FileSource(FileSource const&) = delete;
  FileSource& operator=(FileSource const&) = delete;
  ~FileSource() override;

  /// Serves tiles of `pool` as well, which must outlive the source too: one input can feed several pipelines. They must
  /// ensure that one thread at a time calls `next`.
  ///
  /// Shape:   its tiles have as much input as those of the first.
  /// Threads: one at a time; others may fill tiles of the other pools.
  /// Throws:  Error of kind bad_argument, if their input has another size, or if there are most_pools pools already.
  void serve(Pool const& pool);

  /// Returns false also once a stop is requested and the data read from a pipe has left.
  ///
  /// Blocks:  until a stream or a followed file has input, or a stop is requested. If other threads fill tiles of all
  ///          files that are decoded, and at most a stream is left, until one of these files is free.
  /// Throws:  exceptions of next_file and the observer, the latter also from an earlier `fill`.
  bool next(Tile& tile) override;
  /// Shape:  each tile that `next` agreed to is filled, by any thread.
  /// Blocks: if records lead from one to the next, as in captures, until the preceding tiles of the same file have been
  ///         filled: a thread that fills several of them must do so in order.
  /// Throws: FileProblem that begins with the file's name.
  std::size_t fill(Tile& tile) override;
  /// Numbers of tiles by way of reading, of decoded files, and the reasons why a faster way was not used.
  std::vector<std::string> remarks() const override;
  /// Records and files that are in no tile, with the reasons.
  ///
  /// Threads: as `loss`.
  std::vector<LeftOut> left_out() const override;
  /// Records that were not passed on whole.
  ///
  /// Threads: any, while none is in `next`, nor in `fill` if files are decoded.
  RecordLoss loss() const;
  /// The place of a tile that `next` accepted; with a framing, or if files are decoded, valid once the tile is filled.
  Place place_of(Tile const& tile) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// Divides a text into ranges of whole lines, each but the last of at least `bytes` bytes. Empty if it must be read as
/// a whole: it is smaller, compressed, no regular file, no text that FileSourceOptions::text accepts, cannot be read,
/// or has lines that end with "\r" alone.
///
/// Shape:   `bytes` is at least 1.
/// Threads: any.
/// Blocks:  until some 64 KiB of each range are read, or up to the next end of a line.
std::vector<FileRange> line_ranges(std::string const& path, std::uint64_t bytes);

/// Reads the whole text of a file, a pipe or another stream. The text is decoded if it is compressed, and treated as
/// FileSourceOptions::text says.
///
/// Blocks: until a pipe has ended, or a stop is requested.
/// Throws: FileProblem that begins with the name, if it cannot be read, has more than 1 GiB, or a stop came first.
std::string read_text(std::string const& path, std::stop_token const& stop = {});

/// A name as it is printed within a line: a newline becomes `\n`, a backslash `\\`.
std::string name_in_line(std::string_view name);

}  // namespace penstock
