// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The log of a watched process, as libpenstock-watch.so writes it and `penstock watch` reads it.
///
/// Shape:   a header of one chunk, then chunks of records. A record whose `kind` is none was not written, and ends its
///          chunk. Within a chunk, the calls of a thread are in the order in which they returned; chunks are in no
///          order. All numbers are little endian.
/// Units:   times in nanoseconds of CLOCK_MONOTONIC; sizes in bytes.
namespace penstock::watch_log {

inline constexpr std::array<char, 8> magic{'P', 'S', 'W', 'A', 'T', 'C', 'H', '2'};
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
inline constexpr std::size_t record_bytes = 64;
inline constexpr std::size_t records_in_chunk = chunk_bytes / record_bytes;

/// The least and the greatest length of a log: the header and a chunk of records; the part that a reader takes into
/// memory.
inline constexpr std::uint64_t least_bytes = 2 * chunk_bytes;
inline constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

/// The environment variables of a watched program: the folder for logs, their greatest length, and a file of Notes.
inline constexpr char const* folder_variable = "PENSTOCK_WATCH";
inline constexpr char const* limit_variable = "PENSTOCK_WATCH_LIMIT";
inline constexpr char const* notes_variable = "PENSTOCK_WATCH_NOTES";

/// Effect of a call of the driver, as far as time and order depend on it. Comments say what the record has in `first`,
/// `second` and `bytes`.
enum class Call : std::uint8_t {
  none,
  launch,
  copy,           ///< first: destination; second: source; bytes.
  fill,           ///< A memset. first: destination; bytes.
  graph_launch,   ///< first: the executable graph.
  host_function,  ///< A callback in a stream.
  event_record,   ///< first: the event; likewise the next three.
  event_wait,
  event_sync,
  event_query,
  stream_sync,
  stream_query,
  device_sync,
  stream_create,  ///< second: its flags. `stream` is the new one.
  stream_destroy,
  allocate,       ///< first: the memory; bytes. With a stream, if it is in the order of one.
  release,        ///< first: the memory.
  pin,            ///< Host memory that is pinned: first, bytes.
  unpin,          ///< first.
  instantiate,    ///< first: the executable graph.
  load,           ///< Loads code.
  begin_capture,  ///< Calls in the stream go into a graph from here to end_capture.
  end_capture,
  event_destroy,  ///< first: the event.
  graph_update,   ///< Changes an executable graph: first. second: 1, if all of its nodes are replaced.
  count
};

enum class Kind : std::uint8_t {
  none,
  call,           ///< `what` is a Call.
  copy,           ///< The device copied. `what`: CUPTI's kind of copy; `from` and `to`: its kinds of memory; bytes.
  fill,           ///< The device did a memset. `to`: its kind of memory; bytes.
  kernel,         ///< first: the number of its name; second: threads of the grid; bytes: threads of a block.
  thread,         ///< A thread of the process: `first` is the system's number; its name is `text`.
  name,           ///< `correlation` is its number, `what` which part of it `text` is, from 0.
  call_name,      ///< `correlation` is CUPTI's number of the call; `text`.
  graph_copy,     ///< A copy in an executable graph, which is `stream`: first, second, bytes. It is the node `end` from
                  ///< `begin` on. `what`: 0 as it was made, 1 as it was changed.
  graph_fill,     ///< A memset in an executable graph, by the same fields.
  device,         ///< `device`; first: multiprocessors; second: threads that one has room for; `bytes`: its memory.
  lost,           ///< CUPTI had no room for `bytes` activities.
  graph_unknown,  ///< The same as graph_copy, if the bytes that the node touches are not known; without a node, those
                  ///< of the graph.
  count
};

/// Flags of a record.
inline constexpr std::uint8_t failed = 1;     ///< The call returned an error, or a query returned "not yet".
inline constexpr std::uint8_t captured = 2;   ///< It went into a graph.
inline constexpr std::uint8_t waits = 4;      ///< A copy or memset by a call without Async in its name.
inline constexpr std::uint8_t scattered = 8;  ///< The bytes are not contiguous, or it is not known which they are.
inline constexpr std::uint8_t in_graph = 16;  ///< The activity is a node's.
inline constexpr std::uint8_t async = 32;     ///< The activity is of an asynchronous call, as CUPTI says.
inline constexpr std::uint8_t by_handle =
    64;  ///< The call names the legacy default stream by its handle, and not by 0.

/// The values of `stream` for the two default streams. Other streams have their handle.
inline constexpr std::uint64_t legacy_stream = 1;
inline constexpr std::uint64_t per_thread_stream = 2;

/// The values of CUPTI's kinds of copies and of memory, and of the flags of streams, that have a meaning here.
inline constexpr std::uint8_t copy_in = 1, copy_out = 2, copy_on_device = 8;
inline constexpr unsigned pageable_memory = 1;
inline constexpr std::uint64_t non_blocking = 1;

struct Record {
  Kind kind = Kind::none;
  std::uint8_t what = 0;
  std::uint8_t flags = 0;
  std::uint8_t from : 4 = 0;
  std::uint8_t to : 4 = 0;
  std::uint32_t thread = 0;       ///< The thread's number in this log, from 1.
  std::uint32_t correlation = 0;  ///< CUPTI's correlation: an activity has that of the call that asked for it.
  std::uint16_t device = 0;       ///< Device of an activity; for a call the number of its context.
  std::uint16_t function = 0;     ///< CUPTI's number of the call.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t stream = 0;  ///< Handle of the stream for a call; CUPTI's number for an activity.
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Record) == record_bytes);

/// The text of a record lies from `begin` on, and ends with a zero or with the record.
inline constexpr std::size_t text_at = offsetof(Record, begin);
inline constexpr std::size_t text_bytes = record_bytes - text_at;

/// The sums of records that were only counted, because the log was full.
struct Total {
  std::uint64_t count = 0;
  std::uint64_t nanoseconds = 0;
  std::uint64_t bytes = 0;
};

/// The beginning of a log. It is changed in place while the process runs.
struct Header {
  std::array<char, 8> magic{};
  std::uint32_t process = 0;
  std::uint32_t parent = 0;
  std::uint64_t began = 0;        ///< Time when the library was loaded.
  std::uint64_t ended = 0;        ///< Time when the process ended; 0 if it did not end by exit.
  std::uint64_t chunks = 0;       ///< Chunks that were begun, including that of the header.
  std::uint64_t most_chunks = 0;  ///< The greatest number of chunks.
  std::uint64_t full_at = 0;      ///< Time when the log was full, or 0.
  std::uint64_t refusal = 0;      ///< A Refusal, which says why the process is not watched; 0 if it is.
  std::uint64_t refusal_code = 0;
  std::array<char, 184> program{};
  std::array<Total, static_cast<std::size_t>(Call::count)> calls{};       ///< The index is a Call.
  std::array<Total, static_cast<std::size_t>(Kind::count)> activities{};  ///< The index is a Kind.
};
static_assert(sizeof(Header) <= chunk_bytes);

/// Reasons why a process was not watched.
enum class Refusal : std::uint64_t {
  none,
  no_cupti,        ///< No library, or none of CUDA 12 or 13.
  cupti_refuses,   ///< `refusal_code` says how.
  cupti_is_taken,  ///< Another profiler uses it.
};

/// Notes of processes that could make no log. All processes of a run share them, in memory; they begin as zeros.
struct Notes {
  std::uint32_t without_log = 0;  ///< Number of processes that loaded the library and could make no log.
  std::uint32_t process = 0;      ///< The last of these processes, and the errno of its failure.
  std::int32_t problem = 0;
};

}  // namespace penstock::watch_log
