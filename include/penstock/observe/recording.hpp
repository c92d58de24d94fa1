// SPDX-License-Identifier: Apache-2.0
// What a Recorder saw, and its trace.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/steps.hpp"

namespace penstock {

/// When one tile was in one step.
///
/// Units: nanoseconds since the recording began; device times are mapped to the host's clock.
struct Passage {
  std::uint64_t tile = 0;  ///< Its sequence.
  std::uint32_t row = 0;   ///< In Recording::rows.
  Step step = Step::borrow;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A span of the program's own (Span, observe.hpp).
///
/// Units: as Passage.
struct RecordedSpan {
  std::uint32_t name = 0;                  ///< In Recording::span_names.
  std::uint32_t row = 0;                   ///< In Recording::rows.
  std::optional<std::uint64_t> tile = {};  ///< Sequence of the tile that it is about, if it is about one.
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The passages that a Recorder kept.
struct Recording {
  std::vector<RecordRow> rows;
  std::vector<Passage> passages;  ///< In no order.
  std::size_t tiles = 0;          ///< Tiles of the pool; 0 if not known.
  std::uint64_t every = 1;        ///< One tile in this many was recorded.
  std::uint64_t noted = 0;        ///< Passages in all, with those that were forgotten.
  std::uint64_t missed = 0;       ///< Passages for which there was no room any more.
  /// Where it was cut out of a longer one: passages that reach these were longer.
  std::optional<std::int64_t> cut_from = {}, cut_to = {};
  std::int64_t spent = 0;  ///< Nanoseconds of the threads' time that went into marks on the device.
  std::vector<std::string> span_names = {};
  std::vector<RecordedSpan> spans = {};  ///< Of a row in the order of their ends, so that inner ones come first.
  std::uint64_t spans_missed = 0;        ///< Spans for which there was no room.
};

static_assert(sizeof(Passage) == 32 && sizeof(RecordedSpan) == 40, "RecorderOptions says what a recording takes.");

/// Times of all spans of one name.
struct SpanTimes {
  std::string name;
  std::uint64_t calls = 0;
  std::chrono::nanoseconds self{0};   ///< Without the spans within them.
  std::chrono::nanoseconds total{0};  ///< A span within another of its name does not count twice.
  /// Of spans within the step `enqueue`: time for which the device computed for their tiles; for one without a tile,
  /// for all tiles that were enqueued meanwhile. Empty if no span was there, or no such time is known.
  std::optional<std::chrono::nanoseconds> kernel = {};
};

/// Order of SpanTimes, the greatest first; by name, if they are equal.
enum class SpanOrder : std::uint8_t { self, total, calls, kernel };

/// Times of a recording's spans, by name. If not every tile was recorded, they are those of the recorded tiles.
std::vector<SpanTimes> span_times(Recording const& recording, SpanOrder order = SpanOrder::self);

/// The same as lines of a table: calls, self, total, the mean of total, and kernel. What would break a line in a name
/// is escaped as in JSON, and long names are cut. Ends a line; empty without spans.
std::string span_table(Recording const& recording, SpanOrder order = SpanOrder::self);

/// Names and values that describe a whole trace.
using TraceNotes = std::vector<std::pair<std::string, std::string>>;

/// Facts about the origin of a trace.
struct TraceFacts {
  std::string process = "penstock";
  std::uint32_t number = 1;  ///< Number of the process; traces that are joined with this one have others.
  TraceNotes facts = {};     ///< Machine, options: names and values.
};

/// Writes a recording of one run in Chrome's JSON format, which Perfetto (ui.perfetto.dev) and chrome://tracing show.
///
/// Each thread and each stream is a row, or several where passages on a stream meet, or on a thread without one being
/// within the other; tiles in a queue are shown one by one. Below them each engine is a row, which says when any
/// stream had it at work. Flows follow a tile through its passages. Counters say how many tiles were in flight, how
/// many away from home and, if the recording is of every tile and knows the pool, how many home. Passages go out in the
/// order of time, one a line, and nothing but numbers is kept until then: 9 bytes a passage and 24 more in a queue or
/// 72 more on a device, 8 a span, and 96 a tile. Spans are drawn among the passages of their thread.
///
/// Units:  microseconds from the recording's beginning, or from its first passage if that was earlier.
/// Throws: nothing of its own; whether all was written `out` knows.
void write_trace(std::ostream& out, Recording const& recording, TraceFacts const& facts = {});

}  // namespace penstock
