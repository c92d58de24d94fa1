// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "penstock/core/error.hpp"

namespace penstock::cli {
namespace {

/// A pipe whose ends are closed when it dies.
struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorKind::system, "pipe: " + std::string(std::strerror(errno)));
  }
  Pipe(Pipe const&) = delete;
  Pipe& operator=(Pipe const&) = delete;
  ~Pipe() {
    shut(0);
    shut(1);
  }
  void shut(std::size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

/// How a child is started: with these files, and with all signals let in, which this process may keep from its threads,
/// also a ctrl-C, which shells have those ignore that they start behind themselves.
class Start {
 public:
  Start(Pipe const& output, Pipe const& complaint) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, output.ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, complaint.ends[1], STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    posix_spawnattr_setsigdefault(&attributes_, &interrupt);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Start(Start const&) = delete;
  Start& operator=(Start const&) = delete;
  ~Start() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  pid_t operator()(std::vector<std::string> const& arguments) const {
    std::vector<char*> words;
    words.reserve(arguments.size() + 1);
    for (std::string const& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    pid_t child = 0;
    if (int const problem = posix_spawn(&child, words[0], &files_, &attributes_, words.data(), environ); problem != 0) {
      throw Error(ErrorKind::system,
                  arguments[0] + ": " + std::strerror(problem) +
                      ". Both flavours of the command must lie in one folder: ./dev build makes them both.");
    }
    return child;
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

/// Reads both until both have ended.
void read_all(Pipe& output, std::string& said, Pipe& complaint, std::string& complained) {
  std::array<pollfd, 2> watched{pollfd{output.ends[0], POLLIN, 0}, pollfd{complaint.ends[0], POLLIN, 0}};
  std::array<char, 65536> buffer{};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      ssize_t const got = read(watched[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        (i == 0 ? said : complained).append(buffer.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        watched[i].fd = -1;
      }
    }
  }
}

}  // namespace

ChildEnd run_child(std::vector<std::string> const& arguments, std::stop_token const& stop) {
  Pipe output;
  Pipe complaint;
  pid_t const child = Start(output, complaint)(arguments);
  output.shut(1);
  complaint.shut(1);
  ChildEnd end;
  {
    // While it is not waited for, nobody else has its number.
    std::stop_callback const interrupt(stop, [child] { kill(child, SIGINT); });
    read_all(output, end.output, complaint, end.complaint);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

std::string complaint_of(ChildEnd const& end) {
  constexpr std::string_view speaker = "penstock: ";  // The programs of both flavours.
  std::string_view why = end.complaint;
  if (why.starts_with(speaker)) why.remove_prefix(speaker.size());
  while (why.ends_with('\n')) why.remove_suffix(1);
  return why.empty() ? "it ended with " + std::to_string(end.code) : std::string(why);
}

std::string this_program() {
  std::error_code problem;
  auto const here = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) throw Error(ErrorKind::system, "/proc/self/exe: " + problem.message() + ".");
  return here;
}

std::string sibling_program(std::string const& name) {
  return std::filesystem::path(this_program()).parent_path() / name;
}

}  // namespace penstock::cli
