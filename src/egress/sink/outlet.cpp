// SPDX-License-Identifier: Apache-2.0
#include "egress/sink/outlet.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace penstock {
namespace {

/// Blocks the signals that a write may raise, by a closed pipe or a limit on files, on this thread.
class NoSignals {
 public:
  NoSignals() noexcept {
    sigemptyset(&raised_);
    sigaddset(&raised_, SIGPIPE);
    sigaddset(&raised_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    // A signal that is already pending is not ours, and stays.
    for (int const signal : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&pending, signal) == 1) sigdelset(&raised_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &raised_, &before_);
  }
  NoSignals(NoSignals const&) = delete;
  NoSignals& operator=(NoSignals const&) = delete;
  ~NoSignals() {
    timespec const at_once{};
    while (ours_ && sigtimedwait(&raised_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  void take(int problem) noexcept { ours_ = problem == EPIPE || problem == EFBIG; }

 private:
  sigset_t raised_{}, before_{};
  bool ours_ = false;
};

}  // namespace

Outlet::Outlet(int descriptor) : descriptor_(descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return;  // The first write reports the error.
  if (S_ISREG(status.st_mode)) kind_ = Kind::regular;
  if (S_ISSOCK(status.st_mode)) kind_ = Kind::socket;
  // The name of the master end of a terminal would make another terminal.
  bool const is_terminal = S_ISCHR(status.st_mode) && isatty(descriptor) == 1 && status.st_rdev != makedev(5, 2);
  if (!S_ISFIFO(status.st_mode) && !is_terminal) return;
  // O_NONBLOCK belongs to the open file description, which other processes may share; so it is opened again.
  std::string const here = "/proc/self/fd/" + std::to_string(descriptor);
  own_.number = open(here.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

Outlet::Taken Outlet::give(std::span<std::byte const> bytes) const noexcept {
  // Maximum size of a write to a pipe: it does not block if the pipe has any room.
  constexpr std::size_t most_of_pipe = 4096;
  if (kind_ == Kind::other && own_.number < 0) {
    pollfd room{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    int ready = 0;
    do {
      ready = poll(&room, 1, 0);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) return {};
    bytes = bytes.first(std::min(bytes.size(), most_of_pipe));
  }
  NoSignals signals;
  for (;;) {
    ssize_t const taken = kind_ == Kind::socket
                              ? send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT)
                              : write(number(), bytes.data(), bytes.size());
    if (taken >= 0) return {.bytes = static_cast<std::size_t>(taken)};
    int const problem = errno;
    if (problem == EINTR) continue;
    if (problem == EAGAIN || problem == EWOULDBLOCK) return {};
    signals.take(problem);
    return {.problem = problem};
  }
}

bool Outlet::await_room(Ending const& ending, bool at_stop,
                        std::optional<std::chrono::steady_clock::time_point> until) const noexcept {
  for (;;) {
    timespec time{};
    if (until) {
      auto const left = std::max<std::chrono::nanoseconds>(*until - std::chrono::steady_clock::now(), {});
      time = {.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
    }
    // poll ignores a negative descriptor.
    pollfd waited[]{{.fd = number(), .events = POLLOUT, .revents = 0},
                    {.fd = at_stop ? ending.descriptor() : -1, .events = POLLIN, .revents = 0}};
    int const ready = ppoll(waited, 2, until ? &time : nullptr, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    // The write reports any error.
    return ready < 0 || waited[0].revents != 0;
  }
}

bool Outlet::take_back(std::uint64_t bytes) const noexcept {
  struct stat status {};
  off_t const here = lseek(descriptor_, 0, SEEK_CUR);
  if (kind_ != Kind::regular || here < 0 || fstat(descriptor_, &status) != 0) return false;
  auto const left = here - static_cast<off_t>(bytes);
  // Another process may have written behind it.
  if (status.st_size != here || left < 0 || ftruncate(descriptor_, left) != 0) return false;
  return lseek(descriptor_, left, SEEK_SET) == left;
}

}  // namespace penstock
