// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/new_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

bool is_regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// Makes a name, from `name`, that no other file has.
std::string fresh_name(std::string const& name) {
  constexpr std::size_t most_of_name = 200;  // A name may have 255.
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

DescriptorStream::DescriptorStream(int descriptor, std::stop_token stop)
    : descriptor_(descriptor), stop_(std::move(stop)), regular_(is_regular(descriptor)) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

int DescriptorStream::finish() {
  write_out();
  return problem_;
}

DescriptorStream::int_type DescriptorStream::overflow(int_type character) {
  if (!write_out()) return traits_type::eof();
  if (!traits_type::eq_int_type(character, traits_type::eof())) sputc(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

int DescriptorStream::sync() {
  return write_out() ? 0 : -1;
}

/// A signal asks for a stop on another thread, and does not interrupt a wait of this one: so it looks now and then.
bool DescriptorStream::has_room() {
  constexpr int milliseconds_between_looks = 50;
  constexpr std::chrono::seconds patience{1};
  std::chrono::steady_clock::time_point give_up = std::chrono::steady_clock::time_point::max();
  for (;;) {
    pollfd room{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    int const ready = poll(&room, 1, milliseconds_between_looks);
    // If something is wrong with it, the write reports that.
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    auto const now = std::chrono::steady_clock::now();
    if (stop_.stop_requested()) give_up = std::min(give_up, now + patience);
    if (now >= give_up) return false;
  }
}

bool DescriptorStream::write_out() {
  char const* next = pbase();
  while (problem_ == 0 && next != pptr()) {
    if (!regular_ && !has_room()) {
      problem_ = ECANCELED;
      break;
    }
    auto const bytes = std::min(static_cast<std::size_t>(pptr() - next), regular_ ? buffer_.size() : most_of_pipe);
    ssize_t const written = ::write(descriptor_, next, bytes);
    if (written >= 0) {
      next += written;
    } else if (errno != EINTR && errno != EAGAIN) {
      problem_ = errno;
    }
  }
  // Bytes that cannot be written are not kept: all that follows would be lost, too.
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return problem_ == 0;
}

int take_owner_and_mode(int to, uid_t owner, gid_t group, mode_t mode) {
  struct stat now {};
  if (fstat(to, &now) != 0) return errno;
  if ((now.st_uid != owner || now.st_gid != group) && fchown(to, owner, group) != 0) return errno;
  // The mode comes last, and after another look: a new owner takes some of the mode away.
  if (fstat(to, &now) != 0) return errno;
  return (now.st_mode & 07777) == mode || fchmod(to, mode) == 0 ? 0 : errno;
}

int sync_file(int descriptor) {
  if (fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
  return errno;
}

int sync_folder(int folder) {
  Descriptor const readable(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return readable.number >= 0 ? sync_file(readable.number) : errno;
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

/// Makes a copy with a name, where /proc is missing or the file system links no file that has no name.
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
