// SPDX-License-Identifier: Apache-2.0
// Where the results of a pipeline go: files, standard output, files that roll, connections.
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

/// How a sink writes.
struct SinkOptions {
  /// Records are collected until there are so many bytes of them, and are then written at once. What one call brings
  /// that is as large is not copied. 0: each call writes. From 64 KiB on it made no difference on a tmpfs
  /// (bench/sink/file_sink_bench).
  std::size_t piece_bytes = std::size_t{1} << 20;
  /// Ends the waits for a pipe, a terminal or a connection that takes nothing. The sink has then failed.
  std::stop_token stop = {};
  /// How long after a stop the sink waits for a reader that takes nothing; anew whenever it has taken something. So one
  /// that is slow gets all.
  std::chrono::milliseconds patience = std::chrono::seconds(1);
};

/// What a sink was given, and what the system has taken of it.
///
/// Units: bytes.
struct SinkCounts {
  std::uint64_t given = 0;    ///< By all calls that did not throw.
  std::uint64_t written = 0;  ///< In whole records. After a failure no more will come.
};

/// What becomes of a file that there is already, and when others see what is new.
enum class FileKeeping {
  grows,    ///< It is emptied. Others see it grow.
  goes_on,  ///< Records follow what it has (FileSinkOptions::record_end). Others see it grow.
  /// It is as it was until `close`, which puts the new file in its place, with its mode and owner. A file system that
  /// fails, or a program that ends before, leaves the old file.
  at_once,
};

struct FileSinkOptions {
  FileKeeping keeping = FileKeeping::grows;
  /// What each record ends with, as a line does with "\n". If records follow what a file has (FileKeeping::goes_on, and
  /// `reopen`), what is behind its last record is cut off, with a message: a program that was killed left it there, and
  /// it would be glued to the next record. No other program may write to the file meanwhile. Empty: records follow
  /// whatever is there.
  std::string record_end = {};
  /// `close` waits until all is on the disk. With FileKeeping::at_once it does so in any case.
  bool synced = false;
  SinkOptions writing = {};
};

/// A file, a pipe or a device that gets records: `file.append(result.output())` in a sink is all of it.
///
/// The bytes of one call are one or more whole records. They stay together, in the order of the calls; with
/// PipelineOptions::ordered that is the order of the source. A call that waits for a slow reader holds its tile, so the
/// source waits, too.
///
/// A failure (a full disk, a pipe that is closed, an error of the device) is thrown by the call that meets it and by
/// all later ones. A regular file then ends with the last record that is whole. So it may lack records of calls that
/// did not throw: `counts` and the sentence say how many bytes it has.
///
/// Threads: any.
class FileSink {
 public:
  /// `-` is standard output. With FileKeeping::at_once a link is followed, and what is no regular file is written as
  /// it is.
  ///
  /// Blocks: for a named pipe, until it has a reader, or a stop is requested.
  /// Throws: Error of kind bad_argument, if it cannot be written; of kind system, if no more files can be opened, or a
  ///         stop ended the wait.
  explicit FileSink(std::string path, FileSinkOptions options = {});
  /// Writes where this descriptor stands, and leaves it open; it outlives the sink. `name` is for messages.
  ///
  /// Throws: Error of kind bad_argument with FileKeeping::at_once, as there is no place to put a file.
  FileSink(int descriptor, std::string name, FileSinkOptions options = {});
  FileSink(FileSink const&) = delete;
  FileSink& operator=(FileSink const&) = delete;
  /// Without `close` it writes what it has, unless the file is kept at once: that is then as it was. A failure is a
  /// message (messages.hpp).
  ~FileSink();

  /// Blocks: while a pipe or a terminal takes nothing, until a stop and SinkOptions::patience are over. Of a device of
  ///         another kind, and of a terminal that this process may not open, the system may keep a write for longer.
  /// Throws: Error of kind system, if not all could be written, now or before; of kind bad_argument once it is closed.
  void append(std::span<std::byte const> records);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Writes what it has.
  ///
  /// Blocks, throws: as append.
  void flush();
  /// Writes what it has, and opens the file of its path again, behind what that holds: for a program that rotates
  /// logs, once it has renamed the file. If the new one cannot be opened, the old one goes on.
  ///
  /// Blocks: as the constructor and append do; and while other threads are in `append`, which may wait for a reader. A
  ///         stop ends these waits, too. A thread that must not wait, as that of an event loop, leaves it to another.
  /// Throws: as append; and Error of kind bad_argument, if the sink has no path or is kept at once.
  void reopen();
  /// Writes what it has, and ends; the reader of a pipe that the sink opened sees its end. A second call does nothing.
  ///
  /// Blocks: as append; and until all is on the disk, if the options say so.
  /// Throws: as append.
  void close();

  /// Blocks: never, also while another thread waits in `append`.
  SinkCounts counts() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

struct RollingOptions {
  /// A file ends before it gets more than that. What one call brings stays in one file, and may be more. 0: no bound.
  ///
  /// Units: bytes.
  std::uint64_t bytes = 0;
  /// A file ends with the first call that comes so long after it was begun. 0: never.
  std::chrono::milliseconds time = {};
  /// With each new file the oldest ones that the pattern names are removed, until there are so many. 0: none are.
  std::size_t keep = 0;
  /// A file that ends is on the disk before the next one begins.
  bool synced = false;
  /// What time it is, for `time` and for names. Empty: the system's clock.
  std::function<std::chrono::system_clock::time_point()> clock = {};
  SinkOptions writing = {};
};

/// Files one after the other, each with whole records, as FileSink has them.
///
/// "folder/log-{number}.txt" names them: numbers begin behind the largest that is there, and have six digits or more.
/// "{time}" is when a file was begun, as in 20260131T235959Z. A file is begun by the first record that it gets.
///
/// A failure is thrown as by FileSink, and stays. Only a next file that cannot be begun is tried again by the next
/// call.
///
/// Threads: any.
class RollingFiles {
 public:
  /// Throws: Error of kind bad_argument, unless the name of the file has "{number}" once and no digit behind it, and
  ///         "{time}" at most once and not next to it; of kind system, if the folder cannot be read.
  explicit RollingFiles(std::string const& pattern, RollingOptions options = {});
  RollingFiles(RollingFiles const&) = delete;
  RollingFiles& operator=(RollingFiles const&) = delete;
  /// Writes what it has, if it was not closed. A failure is a message (messages.hpp).
  ~RollingFiles();

  /// Blocks: until all is on the disk, if `synced` and a file ends.
  /// Throws: Error, if not all could be written, now or before, or a file cannot be begun; of kind bad_argument once
  /// it is closed.
  void append(std::span<std::byte const> records);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Writes what it has. Throws as append.
  void flush();
  /// Ends the file, for instance at a SIGHUP; the next record begins another. Not for a handler of a signal itself.
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
  std::unique_ptr<Parts> const parts_;
};

/// A connection that gets records, each call's in one piece of its stream.
///
/// A call waits while the peer takes nothing, and holds its tile meanwhile, so the source waits, too. `counts` has what
/// the system has taken; whether the peer has read it, only the peer can say. After a failure the sink ends a
/// connection of TCP by a reset, so that its peer does not take what it has for all.
///
/// Threads: any.
class SocketSink {
 public:
  /// Connects to "tcp:HOST:PORT", "tcp:[::1]:9000", "unix:/path" or "unix:@name".
  ///
  /// Blocks: until the peer is connected, or a stop is requested; no stop ends the wait for a server of the Unix domain
  ///         whose queue is full.
  /// Throws: Error of kind bad_argument: no such address. Error of kind system: no peer there, or a stop.
  explicit SocketSink(std::string const& address, SinkOptions options = {});
  SocketSink(SocketSink const&) = delete;
  SocketSink& operator=(SocketSink const&) = delete;
  /// Writes what it has, if it was not closed. A failure is a message (messages.hpp).
  ~SocketSink();

  /// Blocks: while the peer takes nothing, until a stop.
  /// Throws: Error of kind system, if not all could be sent, now or before; of kind bad_argument once it is closed.
  void append(std::span<std::byte const> records);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  /// Sends what it has. Blocks, throws: as append.
  void flush();
  /// Sends what it has, says to the peer that this is all, and reads away what the peer sends until it ends as well: a
  /// connection that has something unread ends by a reset, which may cost the peer the last records. A second call does
  /// nothing.
  ///
  /// Blocks: as append; then until the peer ends, SinkOptions::patience is over or a stop is requested meanwhile.
  /// Throws: as append.
  void close();

  SinkCounts counts() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
