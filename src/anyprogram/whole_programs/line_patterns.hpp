// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cli {

/// Patterns for lines: extended regular expressions, as of grep -E.
class LinePatterns {
 public:
  LinePatterns();
  /// Throws: Error of kind bad_argument, for a text that is no such expression.
  explicit LinePatterns(std::vector<std::string> const& patterns);
  LinePatterns(LinePatterns&&) noexcept;
  LinePatterns& operator=(LinePatterns&&) noexcept;
  ~LinePatterns();

  /// True if one of them is found in the line.
  bool any_in(std::string_view line) const;

 private:
  struct Compiled;
  std::vector<std::unique_ptr<Compiled>> all_;
};

}  // namespace penstock::cli
