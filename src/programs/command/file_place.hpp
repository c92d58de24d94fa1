// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <sys/stat.h>

namespace penstock::cli {

/// The file that a name leads to, through links: one that is there, or the place where it would be made. Nothing is
/// opened.
class FilePlace {
 public:
  explicit FilePlace(std::string const& name);

  /// True if both will be one file. Never for devices such as /dev/null, in which nothing is kept.
  bool is(FilePlace const& other) const;
  /// True if this open file is the one at this place.
  bool is(int descriptor) const noexcept;
  /// True if it is a file that is there, in this folder or one in it.
  bool lies_in(FilePlace const& folder) const;

 private:
  std::optional<struct stat> there_;
  std::filesystem::path path_;
};

}  // namespace penstock::cli
