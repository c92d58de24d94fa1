// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace penstock::cli {

/// A path as b3sum prints it: bytes that are no UTF-8 become U+FFFD, backslash and newline are escaped.
struct PrintedPath {
  std::string text;
  bool escaped = false;  ///< The line that it stands in begins with a backslash.
};
PrintedPath printed(std::string_view path);

/// A text as b3sum prints it that escapes nothing: bytes that are no UTF-8 become U+FFFD.
std::string readable(std::string_view text);

/// "HASH  PATH", as b3sum prints it, without the newline.
std::string sum_line(std::string_view hex, std::string_view path);

/// One line of a check list.
struct ExpectedSum {
  std::string hex;
  std::string path;
  std::string shown;  ///< The path as the list has it, with the backslash at the line's beginning if there is one.
};
/// Reads a line that `sum_line` wrote, or says what is wrong with it.
std::variant<ExpectedSum, std::string> parse_sum_line(std::string_view line);

}  // namespace penstock::cli
