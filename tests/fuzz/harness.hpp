// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace penstock::fuzz {

/// Tries one input, which may be any bytes. Each target's file defines it; entry.cpp hands it to
/// libFuzzer, replay.cpp calls it with what a corpus holds.
///
/// Throws: nothing; what leaves it is a finding.
void try_input(std::string_view input);

/// Ends the program with this sentence, unless `holds`.
void require(bool holds, char const* sentence);

/// The part of `rest` up to `end`, which both are taken from it; all of it if there is no `end`.
std::string_view take_until(std::string_view& rest, char end);

/// Takes a number of this type from the front; zeros behind the end.
template <class Number>
Number take(std::string_view& rest) {
  Number number{};
  std::size_t const bytes = std::min(sizeof(Number), rest.size());
  if (bytes != 0) std::memcpy(&number, rest.data(), bytes);
  rest.remove_prefix(bytes);
  return number;
}

/// A folder of this process, empty at first and removed at the end, with files that an input asks for.
class Folder {
 public:
  Folder();
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder();

  std::string const& path() const noexcept { return path_; }
  /// Makes `name`, with its folders, hold these bytes and nothing else.
  void write(std::string const& name, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace penstock::fuzz
