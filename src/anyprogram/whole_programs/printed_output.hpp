// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyprogram/whole_programs/line_patterns.hpp"
#include "anyprogram/whole_programs/printed_line.hpp"
#include "programs/command/run_program.hpp"

namespace penstock::cli {

/// A line for a message: its printable characters, up to a limit.
std::string shown_line(std::string_view line);

/// The first difference of two outputs, as in "line 3: 'one' and 'other'"; empty if they are equal. If it is behind the
/// text that was kept, their lengths.
std::string difference_of(Heard const& one, Heard const& other);

/// Output of a program, compared line by line between runs without what no two runs have in common.
///
/// That is: lines that are ignored by a pattern; numbers that a unit of time or of a rate follows, or that a word of
/// that kind precedes in their line, as in "Elapsed: 3.2" or "51.2 GB/s"; numbers that differ between two runs of the
/// same program; and lines that differ otherwise between these, come elsewhere, or are not there.
class PrintedOutput {
 public:
  /// Takes the output of the first run, to which all others are compared. `ignored` must outlive it.
  PrintedOutput(Heard first, LinePatterns const& ignored);
  PrintedOutput(PrintedOutput const&) = delete;
  PrintedOutput& operator=(PrintedOutput const&) = delete;

  /// Takes the output of another run of the same program: numbers and lines that differ there no longer count.
  ///
  /// Returns: the first difference, as `difference_of` has it, if no line is left to compare; otherwise empty.
  std::string widen(Heard const& other);
  /// The difference of another program's output from it; empty, if it differs only by what does not count.
  std::string compare(Heard const& other);
  /// Numbers that do not count and were not the same in all outputs so far.
  std::size_t left_out() const noexcept;
  /// Lines of the first output that are ignored.
  std::size_t ignored() const noexcept { return ignored_lines_; }
  /// True if lines are ignored, and no other has a text.
  bool leaves_nothing() const noexcept;
  /// The first difference between lines of two runs of the same program, which do not count; empty if there is none.
  std::string const& stray_line() const noexcept { return stray_line_; }

 private:
  std::vector<PrintedLine> lines_of(Heard const& output) const;
  std::string compare_in_place(std::span<PrintedLine const> theirs);
  std::string difference_at(std::size_t line, std::vector<bool> const& reached,
                            std::span<PrintedLine const> theirs) const;
  void lose_but(std::span<std::size_t const> partners, std::span<PrintedLine const> theirs);

  Heard first_;
  LinePatterns const& ignored_;
  std::vector<PrintedLine> lines_;  ///< Those of the first output that all runs of the program had, in this order.
  std::vector<bool> loose_;         ///< By line of these, and behind the last: others may stand before it.
  std::string stray_line_;
  std::size_t ignored_lines_ = 0;
};

}  // namespace penstock::cli
