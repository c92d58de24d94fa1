// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/file_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include <dirent.h>
#include <sys/stat.h>

#include "penstock/file/open_file.hpp"

namespace penstock::cli {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { closedir(directory); }
};

char const* kind_of(mode_t mode) {
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "no regular file";
}

}  // namespace

FileWalk::FileWalk(std::vector<std::string> paths) : paths_(std::move(paths)) {}

std::optional<FoundFile> FileWalk::next() {
  for (;;) {
    if (levels_.empty()) {
      if (next_path_ == paths_.size()) return std::nullopt;
      std::string const& path = paths_[next_path_++];
      struct stat status {};
      if (path == "-" || stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return FoundFile{path, {}};
      open(path);
    } else if (levels_.back().empty()) {
      levels_.pop_back();
    } else {
      Entry entry = std::move(levels_.back().back());
      levels_.back().pop_back();
      if (!entry.directory) return FoundFile{std::move(entry.path), std::move(entry.problem)};
      open(entry.path);
    }
  }
}

void FileWalk::open(std::string const& directory) {
  auto& entries = levels_.emplace_back();
  std::unique_ptr<DIR, CloseDirectory> const listing(opendir(directory.c_str()));
  if (listing == nullptr) {
    entries.push_back({directory, false, system_problem(errno)});
    return;
  }
  std::string const prefix = directory.ends_with('/') ? directory : directory + '/';
  for (;;) {
    errno = 0;
    dirent const* const found = readdir(listing.get());
    if (found == nullptr) {
      if (errno != 0) entries.push_back({directory, false, system_problem(errno)});
      break;
    }
    std::string const name = found->d_name;
    if (name == "." || name == "..") continue;
    Entry entry{prefix + name, false, {}};
    struct stat status {};
    if (lstat(entry.path.c_str(), &status) != 0) {
      entry.problem = system_problem(errno);
    } else if (S_ISLNK(status.st_mode)) {
      continue;
    } else if (S_ISDIR(status.st_mode)) {
      entry.directory = true;
    } else if (!S_ISREG(status.st_mode)) {
      // A socket has no bytes that a name leads to.
      entry.problem =
          std::string("is ") + kind_of(status.st_mode) +
          (S_ISSOCK(status.st_mode) ? ", which cannot be read" : "; name it on the command line to read it");
    }
    entries.push_back(std::move(entry));
  }
  // A directory sorts as if its name ended with the slash that follows it in every path below it. Last first.
  auto const key = [](Entry const& entry) { return entry.directory ? entry.path + '/' : entry.path; };
  std::sort(entries.begin(), entries.end(), [&](Entry const& a, Entry const& b) { return key(a) > key(b); });
}

}  // namespace penstock::cli
