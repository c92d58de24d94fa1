// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/new_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A name that no other has, next to that of `name`.
std::string fresh_name(std::string const& name) {
  constexpr std::size_t most_of_name = 200;  // Of 255 that a name may have.
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    throw Error(ErrorKind::system, std::string("The system gives no random number: ") + std::strerror(errno) + ".");
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return "." + name.substr(0, most_of_name) + ".penstock-" + digits;
}

/// Returns: 0, or the errno of what failed.
int copy(int from, int to) {
  std::vector<char> piece(std::size_t{1} << 16);
  off_t at = 0;
  for (;;) {
    ssize_t const got = pread(from, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 ? 0 : errno;
    for (ssize_t done = 0; done < got;) {
      ssize_t const put = ::write(to, piece.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0 && errno != EINTR) return errno;
      done += std::max<ssize_t>(put, 0);
    }
    at += got;
  }
}

}  // namespace

int take_owner_and_mode(int to, uid_t owner, gid_t group, mode_t mode) {
  struct stat now {};
  if (fstat(to, &now) != 0) return errno;
  if ((now.st_uid != owner || now.st_gid != group) && fchown(to, owner, group) != 0) return errno;
  // In this order, and with another look: a new owner takes some of the mode away.
  if (fstat(to, &now) != 0) return errno;
  return (now.st_mode & 07777) == mode || fchmod(to, mode) == 0 ? 0 : errno;
}

int sync_file(int descriptor) {
  if (fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
  return errno;
}

NewFile::NewFile(int folder, std::string const& name, mode_t mode)
    : folder_(folder), descriptor_(openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode)) {
  if (descriptor_ < 0) descriptor_ = open_named(name, mode);
}

NewFile::~NewFile() {
  if (!name_.empty()) unlinkat(folder_, name_.c_str(), 0);
  if (descriptor_ >= 0) close(descriptor_);
}

int NewFile::take_place_of(std::string const& name) {
  if (name_.empty() && !take_name(fresh_name(name))) {
    if (int const problem = become_named(name); problem != 0) return problem;
  }
  if (renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

int NewFile::open_named(std::string const& name, mode_t mode) {
  name_ = fresh_name(name);
  int const opened = openat(folder_, name_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
  if (opened < 0) name_.clear();
  return opened;
}

bool NewFile::take_name(std::string const& fresh) {
  std::string const here = "/proc/self/fd/" + std::to_string(descriptor_);
  if (linkat(AT_FDCWD, here.c_str(), folder_, fresh.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  name_ = fresh;
  return true;
}

/// Where /proc is not there, or the file system links no file that has no name: a copy that has one.
int NewFile::become_named(std::string const& name) {
  struct stat now {};
  if (fstat(descriptor_, &now) != 0) return errno;
  int const named = open_named(name, 0600);
  if (named < 0) return errno;
  int problem = copy(descriptor_, named);
  if (problem == 0) problem = take_owner_and_mode(named, now.st_uid, now.st_gid, now.st_mode & 07777);
  if (problem == 0) problem = sync_file(named);
  close(std::exchange(descriptor_, named));
  return problem;
}

}  // namespace penstock
