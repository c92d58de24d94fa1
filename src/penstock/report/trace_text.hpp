// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "penstock/recording.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// As JSON has it; what is no UTF-8 is replaced, since names of threads and files need not be.
std::string quoted(std::string const& text);

/// Text in Chrome's JSON format for traces, event by event, each on a line of its own.
///
/// Shape:  `notes` and `finish` around all events; `begin` and then, in any order, what the event has, up to `end`.
/// Throws: nothing of its own; whether all was written the stream knows.
class TraceText {
 public:
  explicit TraceText(std::ostream& out) : out_(out) {}

  void notes(TraceNotes const& notes);
  void finish();

  /// Says how a process, or a row in it, is called; those with lower numbers are drawn above.
  void name_process(std::uint32_t process, std::string const& name);
  void name_row(std::uint32_t process, std::uint32_t row, std::string const& name);

  void begin(std::string_view phase, std::uint32_t process, std::uint32_t row);
  void time(std::string_view key, std::int64_t nanoseconds);
  /// A name and a value as JSON has it.
  void add(std::string_view key, std::string_view json);
  void end();

  /// An event of some length, without anything else to it.
  void slice(std::uint32_t process, std::uint32_t row, std::int64_t begin, std::int64_t end, std::string_view category,
             std::string const& name);
  /// A line with an event, as another of these wrote it.
  void line(std::string_view event);

 private:
  void next_line();

  std::ostream& out_;
  std::string text_;  ///< Not written yet.
  bool first_ = true;
};

/// Writes several traces as one, in which each is a process of its own; all of them begin at 0.
///
/// Shape:  each was written by `write_trace`, and no two of the same `TraceFacts::number`.
/// Throws: as write_trace.
void join_traces(std::ostream& out, std::span<std::istream* const> traces, TraceNotes const& notes);

}  // namespace penstock
