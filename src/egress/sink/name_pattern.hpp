// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// Names of files with a number, and perhaps a time: "log-{number}-{time}.txt".
///
/// Threads: any.
class NamePattern {
 public:
  /// Throws: Error of kind bad_argument, unless it has one number, and at most one time, not next to it, and no digit
  /// right behind the number.
  explicit NamePattern(std::string_view text);

  std::string name(std::uint64_t number, std::chrono::system_clock::time_point time) const;
  /// The number in a name that matches this pattern.
  std::optional<std::uint64_t> number_of(std::string_view name) const;

 private:
  enum class Kind { text, number, time };
  struct Piece {
    Kind kind;
    std::string text;
  };
  std::vector<Piece> pieces_;
};

}  // namespace penstock
