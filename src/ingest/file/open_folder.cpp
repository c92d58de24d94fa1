// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/open_folder.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

int open_or_throw(int in, char const* name, int links) {
  int const descriptor = openat(in, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | links);
  if (descriptor < 0) throw FileProblem(system_problem(errno));
  return descriptor;
}

}  // namespace

OpenFolder::OpenFolder(std::string const& path) : descriptor_(open_or_throw(AT_FDCWD, path.c_str(), 0)) {}

OpenFolder::OpenFolder(OpenFolder const& in, std::string const& name)
    : descriptor_(open_or_throw(in.descriptor(), name.c_str(), O_NOFOLLOW)) {}

OpenFolder::~OpenFolder() {
  close(descriptor_);
}

OpenFolder::Identity OpenFolder::identity() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) throw FileProblem(system_problem(errno));
  return {status.st_dev, status.st_ino};
}

void OpenFolder::list(std::vector<Entry>& to) const {
  alignas(dirent64) std::array<std::byte, std::size_t{32} << 10> room;
  for (;;) {
    ssize_t const got = getdents64(descriptor_, room.data(), room.size());
    if (got < 0) throw FileProblem(system_problem(errno));
    if (got == 0) return;
    for (std::byte const* at = room.data(); at < room.data() + got;) {
      auto const* const found = static_cast<dirent64 const*>(static_cast<void const*>(at));
      at += found->d_reclen;
      std::string_view const name = &found->d_name[0];
      if (name == "." || name == "..") continue;
      Entry& entry = to.emplace_back(Entry{std::string(name), static_cast<mode_t>(DTTOIF(found->d_type)), {}});
      if (entry.kind != 0) continue;
      // Some file systems do not report the type here.
      struct stat status {};
      if (fstatat(descriptor_, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        entry.kind = status.st_mode & S_IFMT;
      } else {
        entry.problem = system_problem(errno);
      }
    }
  }
}

}  // namespace penstock
