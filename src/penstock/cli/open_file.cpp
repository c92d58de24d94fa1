// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/open_file.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace penstock::cli {
namespace {

/// What is asked for at a time of a file whose size is not known. Files in /proc/sys refuse 4 MiB for want of memory.
constexpr std::size_t read_bytes = std::size_t{256} << 10;

[[noreturn]] void fail(int number) {
  throw std::runtime_error(system_problem(number));
}

}  // namespace

std::string system_problem(int number) {
  return std::generic_category().message(number) + " (os error " + std::to_string(number) + ")";
}

OpenFile::OpenFile(std::string const& path) {
  if (path == "-") {
    descriptor_ = STDIN_FILENO;
    owned_ = false;
    if (int const flags = fcntl(descriptor_, F_GETFL); flags < 0 || (flags & O_ACCMODE) == O_WRONLY) {
      throw std::runtime_error("standard input is not open for reading; give it something to read, or name files");
    }
    return;
  }
  if (path.empty()) throw std::runtime_error("an empty path names no file");
  // Non-blocking, because a pipe without a writer would keep us here, where nobody could stop us; read_some
  // waits instead.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(errno);
  if (fstat(descriptor_, &before_) != 0) {
    int const number = errno;
    close(descriptor_);
    fail(number);
  }
  pieces_ = S_ISREG(before_.st_mode) && before_.st_size > 0;
  if (pieces_) posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

OpenFile::~OpenFile() {
  if (owned_) close(descriptor_);
}

std::size_t OpenFile::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  std::size_t filled = 0;
  while (filled < to.size()) {
    ssize_t const got = pread(descriptor_, to.data() + filled, to.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) {
      // Those in /sys claim a page, whatever they hold: if it still claims what it did, this is all there is.
      expect_unchanged();
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::size_t OpenFile::read_some(std::span<std::byte> to, std::stop_token const& stop) const {
  while (!stop.stop_requested()) {
    // A tenth of a second at most, to look at `stop`: a read of a terminal or a pipe would hold us as long as it likes.
    // A pipe that no writer has opened yet reads as ended, but poll is silent about it until one came.
    pollfd waited{descriptor_, POLLIN, 0};
    int const ready = poll(&waited, 1, 100);
    if (ready == 0) continue;
    ssize_t const got = ready > 0 ? read(descriptor_, to.data(), std::min(to.size(), read_bytes)) : -1;
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EAGAIN && errno != EINTR) fail(errno);
  }
  return 0;
}

std::size_t OpenFile::read_on(std::span<std::byte> to, std::stop_token const& stop) const {
  std::size_t filled = 0;
  while (filled < to.size()) {
    std::size_t const got = read_some(to.subspan(filled), stop);
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

void OpenFile::expect_unchanged() const {
  if (!S_ISREG(before_.st_mode)) return;
  struct stat now {};
  if (fstat(descriptor_, &now) != 0) fail(errno);
  auto const same_time = [](timespec a, timespec b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; };
  if (now.st_size < before_.st_size) {
    throw std::runtime_error("it shrank while it was being hashed; hash it again when nobody writes to it");
  }
  if (now.st_size > before_.st_size) {
    throw std::runtime_error("it grew while it was being hashed; hash it again when nobody writes to it");
  }
  if (!same_time(now.st_mtim, before_.st_mtim)) {
    throw std::runtime_error("it changed while it was being hashed; hash it again when nobody writes to it");
  }
}

}  // namespace penstock::cli
