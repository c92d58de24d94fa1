// SPDX-License-Identifier: Apache-2.0
// Many strings at once, to be found in text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock {

/// A set of strings, as a table that kernels search: the same bytes on the host and on a GPU. The search time does not
/// grow for strings that are much alike.
///
/// Threads: any, once it is made.
class Literals {
 public:
  /// Maximum number of bytes of all strings together.
  static constexpr std::size_t most_bytes = std::size_t{4} << 20;

  /// Equal strings count once.
  ///
  /// Throws: Error of kind bad_argument, if there are none, if one is empty or has a "\n" in it, or if they are too
  ///         long.
  explicit Literals(std::span<std::string const> texts);

  /// The table, to be uploaded unchanged to an address that is a multiple of 8. Strings that contain another one are
  /// not in it: a text that has one of them has the other one.
  std::span<std::byte const> table() const noexcept { return std::as_bytes(std::span(table_)); }
  /// Number of different strings that were given.
  std::size_t size() const noexcept { return size_; }

 private:
  std::vector<std::uint64_t> table_;
  std::size_t size_ = 0;
};

/// The lines of a text as literals, without their line ends.
///
/// Throws: as Literals; the error for an empty line states its number.
Literals literals_of_lines(std::string const& text);

}  // namespace penstock
