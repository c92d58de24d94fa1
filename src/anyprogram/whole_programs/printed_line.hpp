// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace penstock::cli {

/// A line that a program printed, as the numbers in it and the words between them. It refers to the text.
struct PrintedLine {
  struct Number {
    std::string_view text = {};
    bool measured = false;  ///< A time or a rate: a unit follows it, or a word of that kind precedes it.
    bool varies = false;    ///< It varies from run to run of the same program.
    bool seen_other = false;
  };

  /// `its_number` counts from 1.
  explicit PrintedLine(std::string_view text, std::size_t its_number = 1);

  bool blank() const noexcept { return numbers.empty() && words.front().empty(); }

  std::size_t number;
  std::string_view text;
  std::vector<Number> numbers;
  std::vector<std::string_view> words;  ///< One more than there are numbers, without blanks at their ends.
};

/// The lines of a text.
std::vector<PrintedLine> printed_lines(std::string_view text);

/// True if only numbers differ.
bool same_words(PrintedLine const& one, PrintedLine const& other) noexcept;

}  // namespace penstock::cli
