// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ingest/file/open_file.hpp"
#include "programs/hash/hash_source.hpp"

namespace penstock::cli {

/// A path as b3sum prints it: bytes that are not UTF-8 become U+FFFD, backslash and newline are escaped.
struct PrintedPath {
  std::string text;
  bool escaped = false;  ///< The line with it begins with a backslash.
};
PrintedPath printed(std::string_view path);

/// A text as b3sum prints it without escapes: bytes that are not UTF-8 become U+FFFD.
std::string readable(std::string_view text);

/// "HASH  PATH", as b3sum prints it, without the newline.
std::string sum_line(std::string_view hex, std::string_view path);

/// One line of a check list.
struct ExpectedSum {
  std::string hex;
  std::string path;
  std::string shown;  ///< The path as the list has it, with the backslash at the line's beginning if there is one.
};
/// Reads a line that `sum_line` wrote, or returns what is wrong with it.
std::variant<ExpectedSum, std::string> parse_sum_line(std::string_view line);

/// The files that check lists name, in their order.
///
/// Threads: one at a time.
class CheckList {
 public:
  /// Called for each list, and each line of one, that cannot be read; the rest is read all the same.
  using OnProblem = std::function<void(std::string const& list, std::string const& what)>;

  /// `-` among the lists is standard input.
  CheckList(std::vector<std::string> lists, OnProblem on_problem, std::stop_token stop);

  /// The next file; empty at the end, or once `stop` is requested.
  ///
  /// Blocks: until a list has a line, or `stop` is requested.
  std::optional<WantedFile> next();

 private:
  bool open_next();
  bool next_line(std::string& line);

  std::vector<std::string> const lists_;
  OnProblem const on_problem_;
  std::stop_token const stop_;
  std::size_t opened_ = 0;          ///< Lists so far, including the current one.
  std::unique_ptr<OpenFile> list_;  ///< The current one; null between two.
  std::uint64_t line_ = 0;          ///< Lines of it that were handed out.
  std::string read_;                ///< Bytes of it that were read and not yet handed out.
};

}  // namespace penstock::cli
