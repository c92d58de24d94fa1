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

/// "HASH  PATH", as b3sum prints it, without the newline.
std::string sum_line(std::string_view hex, std::string_view path);

/// One line of a check list.
struct ExpectedSum {
  std::string hex;
  std::string path;
};
/// Reads a line that `sum_line` wrote, or says what is wrong with it.
std::variant<ExpectedSum, std::string> parse_sum_line(std::string_view line);

}  // namespace penstock::cli
