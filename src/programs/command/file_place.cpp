// SPDX-License-Identifier: Apache-2.0
#include "programs/command/file_place.hpp"

#include <algorithm>
#include <system_error>

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

bool are_one(struct stat const& one, struct stat const& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino && !S_ISCHR(other.st_mode);
}

}  // namespace

FilePlace::FilePlace(std::string const& name) {
  struct stat status {};
  if (stat(name.c_str(), &status) == 0) there_ = status;
  constexpr int most_links = 40;  // The system has the same limit.
  std::error_code problem;
  path_ = name;
  for (int links = 0; links <= most_links; ++links) {
    fs::path const folder = fs::canonical(path_.has_parent_path() ? path_.parent_path() : ".", problem);
    if (problem) break;  // Nothing can be made there.
    path_ = folder / path_.filename();
    if (!fs::is_symlink(fs::symlink_status(path_, problem))) break;
    fs::path const target = fs::read_symlink(path_, problem);
    if (problem) break;
    path_ = folder / target;
  }
  // "folder/." and "folder/" are the folder.
  if (there_ && S_ISDIR(there_->st_mode)) path_ = fs::canonical(name, problem);
}

bool FilePlace::is(FilePlace const& other) const {
  if (there_ || other.there_) return there_ && other.there_ && are_one(*there_, *other.there_);
  return path_ == other.path_;
}

bool FilePlace::is(int descriptor) const noexcept {
  struct stat open {};
  return there_ && fstat(descriptor, &open) == 0 && are_one(*there_, open);
}

bool FilePlace::lies_in(FilePlace const& folder) const {
  if (!there_ || !folder.there_ || !S_ISREG(there_->st_mode) || !S_ISDIR(folder.there_->st_mode)) return false;
  auto const parts = std::mismatch(folder.path_.begin(), folder.path_.end(), path_.begin(), path_.end());
  return parts.first == folder.path_.end();
}

}  // namespace penstock::cli
