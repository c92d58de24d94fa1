// SPDX-License-Identifier: Apache-2.0
#include "programs/command/standard_output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "engine/core/failure_text.hpp"

namespace penstock::cli {
namespace {

/// Length of as many whole lines as a pipe takes at once and undivided, at least one.
std::size_t length_of_group(std::string_view lines) {
  if (lines.size() <= PIPE_BUF) return lines.size();
  std::size_t end = lines.rfind('\n', PIPE_BUF - 1);
  if (end == std::string_view::npos) end = lines.find('\n');
  return end == std::string_view::npos ? lines.size() : end + 1;
}

bool is_regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

StandardOutput::StandardOutput(int descriptor)
    : descriptor_(descriptor),
      regular_(is_regular(descriptor)),
      dies_of_broken_pipe_(std::signal(SIGPIPE, SIG_IGN) == SIG_DFL) {}

StandardOutput::~StandardOutput() {
  if (dies_of_broken_pipe_) std::signal(SIGPIPE, SIG_DFL);
}

bool StandardOutput::write(std::string_view lines) {
  std::scoped_lock const lock(mutex_);
  while (!lines.empty() && !failed()) {
    std::size_t const length = length_of_group(lines);
    if (write_whole(lines.substr(0, length))) lines.remove_prefix(length);
  }
  return !failed();
}

/// Another thread takes signals, and a signal does not interrupt a wait of this one: so it checks periodically.
bool StandardOutput::has_room() const {
  constexpr int milliseconds_between_looks = 50;
  constexpr std::chrono::seconds patience{1};
  auto give_up = std::chrono::steady_clock::time_point::max();
  for (;;) {
    pollfd room{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    int const ready = poll(&room, 1, milliseconds_between_looks);
    // The write reports whatever is wrong with it.
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    auto const now = std::chrono::steady_clock::now();
    if (hurry_) give_up = std::min(give_up, now + patience);
    if (now >= give_up) return false;
  }
}

bool StandardOutput::write_whole(std::string_view lines) {
  std::string_view rest = lines;
  int problem = 0;
  while (!rest.empty() && problem == 0) {
    if (!regular_ && !has_room()) {
      problem = ECANCELED;
      break;
    }
    ssize_t const written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EAGAIN && errno != EINTR) {
      problem = errno;
    }
  }
  if (problem == 0) return true;
  // The last line of the part that was written may lack its end.
  std::string_view const part = lines.substr(0, lines.size() - rest.size());
  take_back(part.size() - (part.rfind('\n') + 1));
  fail(problem);
  return false;
}

/// Removes the last bytes from a file again, if nothing follows them.
void StandardOutput::take_back(std::size_t bytes) const {
  struct stat status {};
  off_t const end = lseek(descriptor_, 0, SEEK_CUR);
  if (bytes == 0 || end < 0 || fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != end)
    return;
  off_t const begin = end - static_cast<off_t>(bytes);
  if (ftruncate(descriptor_, begin) == 0) lseek(descriptor_, begin, SEEK_SET);
}

bool StandardOutput::probe() {
  int const flags = fcntl(descriptor_, F_GETFL);
  pollfd reader{.fd = descriptor_, .events = 0, .revents = 0};
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
    fail(EBADF);
  } else if (poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR) != 0) {
    fail(EPIPE);
  }
  return !failed();
}

void StandardOutput::fail(int problem) {
  if (problem == EPIPE && dies_of_broken_pipe_) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  int none = 0;
  problem_.compare_exchange_strong(none, problem);
}

bool StandardOutput::given_up() const noexcept {
  return problem_.load() == ECANCELED;
}

std::string StandardOutput::complaint() const {
  return std::string("Standard output took less than all (") + std::strerror(problem_.load()) +
         "): " + remedy_for_writing(problem_.load()) + ".";
}

void StandardOutput::close_between_lines() {
  constexpr int looks = 1000;
  constexpr int milliseconds_between_looks = 1;
  for (int look = 0; look < looks && !mutex_.try_lock(); ++look) poll(nullptr, 0, milliseconds_between_looks);
}

}  // namespace penstock::cli
