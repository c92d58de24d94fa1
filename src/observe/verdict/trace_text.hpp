// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// The text as JSON; bytes that are not UTF-8 are replaced, since names of threads and files may have such.
std::string quoted(std::string const& text);

/// Text in Chrome's JSON format for traces, event by event, each on its own line.
///
/// Shape:  call `notes` first and `finish` last; for each event `begin`, then its members in any order, then `end`.
/// Throws: nothing itself; the state of the stream tells whether all was written.
class TraceText {
 public:
  explicit TraceText(std::ostream& out) : out_(out) {}

  void notes(TraceNotes const& notes);
  void finish();

  /// Sets the name of a process, or of a row in it; those with lower numbers are drawn above.
  void name_process(std::uint32_t process, std::string const& name);
  void name_row(std::uint32_t process, std::uint32_t row, std::string const& name);

  void begin(std::string_view phase, std::uint32_t process, std::uint32_t row);
  void time(std::string_view key, std::int64_t nanoseconds);
  /// Adds a name with a value that is JSON already.
  void add(std::string_view key, std::string_view json);
  void end();

  /// Adds an event with a duration and no other data.
  void slice(std::uint32_t process, std::uint32_t row, std::int64_t begin, std::int64_t end, std::string_view category,
             std::string const& name);
  /// Adds a line with an event that another object of this class wrote.
  void line(std::string_view event);

 private:
  void next_line();

  std::ostream& out_;
  std::string text_;  ///< Text that is not written yet.
  bool first_ = true;
};

/// Writes several traces as one, in which each is a separate process; all of them begin at 0.
///
/// Shape:  each was written by `write_trace`, and no two of the same `TraceFacts::number`.
/// Throws: as write_trace.
void join_traces(std::ostream& out, std::span<std::istream* const> traces, TraceNotes const& notes);

}  // namespace penstock
