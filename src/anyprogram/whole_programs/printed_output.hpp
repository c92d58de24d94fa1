// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "programs/command/run_program.hpp"

namespace penstock::cli {

/// A line for a message: its printable characters, up to a limit.
std::string shown_line(std::string_view line);

/// The first difference of two outputs, as in "line 3: 'one' and 'other'"; empty if they are equal. If it is behind the
/// text that was kept, their lengths.
std::string difference_of(Heard const& one, Heard const& other);

/// Output of a program, compared between runs without the numbers that no two runs have in common.
///
/// These are numbers that a unit of time or of a rate follows, or that a word of that kind precedes in their line, as
/// in "Elapsed: 3.2" or "51.2 GB/s"; and numbers that differ between two runs of the same program.
class PrintedOutput {
 public:
  /// Takes the output of the first run, to which all others are compared.
  explicit PrintedOutput(Heard first);
  PrintedOutput(PrintedOutput const&) = delete;
  PrintedOutput& operator=(PrintedOutput const&) = delete;

  /// Takes the output of another run of the same program: numbers that differ there no longer count.
  ///
  /// Returns: how they differ otherwise, as `difference_of` has it; empty if they do not.
  std::string widen(Heard const& other);
  /// The difference of another program's output from it; empty, if only numbers differ that do not count.
  std::string compare(Heard const& other);
  /// Numbers that do not count and were not the same in all outputs so far.
  std::size_t left_out() const noexcept;

 private:
  struct Token {
    std::string_view text = {};
    bool number = false;
    bool measured = false;  ///< A time or a rate.
    bool varies = false;    ///< It varies from run to run of the same program.
    bool seen_other = false;
  };
  static std::vector<Token> tokens_of(std::string_view text);
  std::string compare(Heard const& other, bool same_program);

  Heard first_;
  std::vector<Token> tokens_;
};

}  // namespace penstock::cli
