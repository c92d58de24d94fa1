// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_of_folder = "penstock-watch-", random_part = "XXXXXX";

std::string folder_of_folders() {
  char const* const chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
}

int open_folder(std::string const& path) noexcept {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// True if the folder is this user's, and no process has its lock; then this process has it.
bool is_left_behind(Descriptor const& folder) noexcept {
  struct stat status {};
  return folder.number >= 0 && fstat(folder.number, &status) == 0 && status.st_uid == geteuid() &&
         flock(folder.number, LOCK_EX | LOCK_NB) == 0;
}

void remove_those_left_behind(std::string const& in) {
  std::error_code none;
  for (auto const& entry : fs::directory_iterator(in, none)) {
    std::string const name = entry.path().filename();
    if (!name.starts_with(name_of_folder) || name.size() != name_of_folder.size() + random_part.size()) continue;
    Descriptor const folder(open_folder(entry.path()));
    if (is_left_behind(folder)) fs::remove_all(entry.path(), none);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string const in = folder_of_folders();
  remove_those_left_behind(in);
  do {
    path_ = in + "/" + std::string(name_of_folder) + std::string(random_part);
    if (mkdtemp(path_.data()) == nullptr) {
      throw Error(ErrorKind::bad_argument, "No folder can be made as " + path_ + ": " + std::strerror(errno) +
                                               ". Let TMPDIR name a folder that can be written.");
    }
  } while (!lock());
}

/// False, if another process has removed the folder before it was locked.
bool ScratchFolder::lock() {
  folder_.shut();
  folder_.number = open_folder(path_);
  if (folder_.number < 0 && errno == ENOENT) return false;
  // A folder without a descriptor, or on a file system without locks, stays unlocked.
  while (folder_.number >= 0 && flock(folder_.number, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat status {};
  return stat(path_.c_str(), &status) == 0 || errno != ENOENT;
}

ScratchFolder::~ScratchFolder() {
  std::error_code none;
  fs::remove_all(path_, none);
}

}  // namespace penstock::cli
