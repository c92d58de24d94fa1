// SPDX-License-Identifier: Apache-2.0
// Destinations for the results of a pipeline: files, standard output, rolling files, connections.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock {

/// Options of writing.
struct SinkOptions {
  /// Number of collected bytes at which records are written together. Records of one call that are at least as large
  /// are not copied. 0: each call writes. From 64 KiB on it made no difference on a tmpfs
  /// (bench/egress/sink/file_sink_bench).
  std::size_t piece_bytes = std::size_t{1} << 20;
  /// Ends waits for a pipe, a terminal or a connection that accepts no data. The sink has then failed.
  std::stop_token stop = {};
  /// Time that the sink waits after a stop for a reader that accepts no data; it restarts whenever the reader has
  /// accepted some. A slow reader thus gets all.
  std::chrono::milliseconds patience = std::chrono::seconds(1);
};

/// Bytes that a sink was given, and bytes that the system has taken.
///
/// Units: bytes.
struct SinkCounts {
  std::uint64_t given = 0;    ///< Bytes of all calls that did not throw.
  std::uint64_t written = 0;  ///< Bytes written, in whole records. After a failure it does not grow.
};

/// Treatment of an existing file, and visibility of new content.
enum class FileKeeping {
  grows,    ///< The file is emptied. Others see it grow.
  goes_on,  ///< Records are appended to its content (FileSinkOptions::record_end). Others see it grow.
  /// The file keeps its content until `close`, which replaces it by the new file, with its mode and owner. A failing
  /// file system, or a program that ends before, leaves the old file.
  at_once,
};

struct FileSinkOptions {
  FileKeeping keeping = FileKeeping::grows;
  /// The end of each record, such as "\n" for a line. If records are appended to a file's content
  /// (FileKeeping::goes_on, and `reopen`), bytes behind its last record are cut off, with a message: a program that was
  /// killed left them there, and they would be joined to the next record. No other program may write to the file
  /// meanwhile. Empty: records are appended as they are.
  std::string record_end = {};
  /// True: `close` waits until all data is on the disk. With FileKeeping::at_once it does so in any case.
  bool synced = false;
  SinkOptions writing = {};
};

/// A file, a pipe or a device that gets records: a sink only calls `file.append(result.output())`.
///
/// The bytes of one call are one or more whole records. They stay together, in the order of the calls; with
/// PipelineOptions::ordered that is the order of the source. A call that waits for a slow reader holds its tile, so the
/// source waits, too.
///
/// A failure (a full disk, a pipe that is closed, an error of the device) is thrown by the call that meets it and by
/// all later ones. A regular file then ends with the last whole record. It may therefore lack records of calls that did
/// not throw: `counts` and the sentence state the number of bytes that it has.
///
/// Threads: any.
class FileSink {
 public:
  /// `-` is standard output. With FileKeeping::at_once a link is followed, and anything but a regular file is written
  /// directly.
  ///
  /// Blocks: for a named pipe, until it has a reader, or a stop is requested.
  /// Throws: Error of kind bad_argument, if it cannot be written; of kind system, if no more files can be opened, or a
  ///         stop ended the wait.
  explicit FileSink(std::string path, FileSinkOptions options = {});
  /// Writes at the current position of this descriptor, and leaves it open; it must outlive the sink. `name` is for
  /// messages.
  ///
  /// Throws: Error of kind bad_argument with FileKeeping::at_once, since there is no path for a new file.
  FileSink(int descriptor, std::string name, FileSinkOptions options = {});
  FileSink(FileSink const&) = delete;
  FileSink& operator=(FileSink const&) = delete;
  /// Without `close` it writes the collected records, unless the file is kept at once: that then keeps its old content.
  /// A failure is a message (error.hpp).
  ~FileSink();

  /// Blocks: while a pipe or a terminal accepts nothing, until a stop and SinkOptions::patience are over. A write to a
  ///         device of another kind, or to a terminal that this process may not open, may block longer in the system.
  /// Throws: Error of kind system, if not all could be written, now or before; of kind bad_argument once it is closed.
  void append(std::span<std::byte const> records);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Writes the collected records.
  ///
  /// Blocks, throws: as append.
  void flush();
  /// Writes the collected records, and opens the file of its path again to append to it: for a program that rotates
  /// logs, once it has renamed the file. If the new file cannot be opened, the old one stays in use.
  ///
  /// Blocks: as the constructor and append do; and while other threads are in `append`, which may wait for a reader. A
  ///         stop ends these waits, too. A thread that must not wait, such as that of an event loop, should leave it to
  ///         another.
  /// Throws: as append; and Error of kind bad_argument, if the sink has no path or is kept at once.
  void reopen();
  /// Writes the collected records, and ends; the reader of a pipe that the sink opened sees its end. A second call does
  /// nothing.
  ///
  /// Blocks: as append; and until all is on the disk, if the options say so.
  /// Throws: as append.
  void close();

  /// Blocks: never, also while another thread waits in `append`.
  SinkCounts counts() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

struct RollingOptions {
  /// Maximum size of a file; a file ends before it exceeds that. Records of one call stay in one file, and may be more.
  /// 0: no limit.
  ///
  /// Units: bytes.
  std::uint64_t bytes = 0;
  /// Maximum age of a file: it ends with the first call that comes this long after it was begun. 0: no limit.
  std::chrono::milliseconds time = {};
  /// Number of files to keep: each new file removes the oldest ones that match the pattern. 0: all are kept.
  std::size_t keep = 0;
  /// Each file is on the disk before the next one begins.
  bool synced = false;
  /// The time, for `time` and for names. Empty: the system's clock.
  std::function<std::chrono::system_clock::time_point()> clock = {};
  SinkOptions writing = {};
};

/// Consecutive files, each with whole records, as FileSink has them.
///
/// "folder/log-{number}.txt" names them: numbers begin behind the largest that exists, and have six digits or more.
/// "{time}" is the time when a file was begun, as in 20260131T235959Z. The first record for a file begins it.
///
/// A failure is thrown as by FileSink, and is permanent. Only if the next file cannot be begun, the next call tries
/// again.
///
/// Threads: any.
class RollingFiles {
 public:
  /// Throws: Error of kind bad_argument, unless the name of the file has "{number}" once and no digit behind it, and
  ///         "{time}" at most once and not next to it; of kind system, if the folder cannot be read.
  explicit RollingFiles(std::string const& pattern, RollingOptions options = {});
  RollingFiles(RollingFiles const&) = delete;
  RollingFiles& operator=(RollingFiles const&) = delete;
  /// Writes the collected records, if it was not closed. A failure is a message (error.hpp).
  ~RollingFiles();

  /// Blocks: until all is on the disk, if `synced` and a file ends.
  /// Throws: Error, if not all could be written, now or before, or a file cannot be begun; of kind bad_argument once
  /// it is closed.
  void append(std::span<std::byte const> records);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Writes the collected records. Throws as append.
  void flush();
  /// Ends the file, for instance at a SIGHUP; the next record begins another. Not to be called from a signal handler.
  ///
  /// Blocks, throws: as append.
  void roll();
  /// Ends the last file. A second call does nothing.
  ///
  /// Blocks, throws: as append.
  void close();

  /// The file that was begun last; empty before the first one.
  std::string path() const;
  SinkCounts counts() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// A connection that gets records; those of one call are contiguous in its stream.
///
/// A call waits while the peer accepts no data, and holds its tile meanwhile, so the source waits, too. `counts` has
/// the bytes that the system has taken; only the peer knows which of them it has read. After a failure the sink ends a
/// TCP connection by a reset, so that its peer does not take the data for complete.
///
/// Threads: any.
class SocketSink {
 public:
  /// Connects to "tcp:HOST:PORT", "tcp:[::1]:9000", "unix:/path" or "unix:@name".
  ///
  /// Blocks: until the peer is connected, or a stop is requested; no stop ends the wait for a server of the Unix domain
  ///         whose queue is full.
  /// Throws: Error of kind bad_argument: no such address. Error of kind system: no peer there, or a stop.
  explicit SocketSink(std::string const& address, SinkOptions const& options = {});
  SocketSink(SocketSink const&) = delete;
  SocketSink& operator=(SocketSink const&) = delete;
  /// Writes the collected records, if it was not closed. A failure is a message (error.hpp).
  ~SocketSink();

  /// Blocks: while the peer accepts nothing, until a stop.
  /// Throws: Error of kind system, if not all could be sent, now or before; of kind bad_argument once it is closed.
  void append(std::span<std::byte const> records);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Sends the collected records. Blocks, throws: as append.
  void flush();
  /// Sends the collected records, ends its direction of the connection, and discards data from the peer until it ends
  /// as well: a connection with unread data ends by a reset, which may cost the peer the last records. A second call
  /// does nothing.
  ///
  /// Blocks: as append; then until the peer ends, SinkOptions::patience is over or a stop is requested meanwhile.
  /// Throws: as append.
  void close();

  SinkCounts counts() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
