// SPDX-License-Identifier: Apache-2.0
#include "tools/command/program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "penstock/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

/// A pipe that closes its ends when it dies.
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

/// What the child does between its fork and its program: with these files, and with all signals let in, which this
/// process may keep from its threads. It dies with the thread that started it. Only what is safe after a fork of one of
/// many threads.
[[noreturn]] void become(std::vector<char*> const& words, pid_t parent, int output, int complaint, int refusal) {
  // The parent may have ended in between.
  bool ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
  int const nothing = open("/dev/null", O_RDONLY);
  for (auto const& [from, to] : {std::pair{nothing, STDIN_FILENO}, {output, STDOUT_FILENO}, {complaint, STDERR_FILENO}})
    ready = ready && dup2(from, to) == to;
  if (nothing > STDERR_FILENO) close(nothing);
  // By SIGTERM it is asked to end. What else is ignored stays so, as SIGINT behind a shell.
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (ready) execv(words[0], words.data());
  int const problem = errno;
  // A parent that does not get the number learns of the failure by the code.
  bool const told = write(refusal, &problem, sizeof problem) == sizeof problem;
  _exit(told ? 127 : 126);
}

pid_t start(std::vector<std::string> const& arguments, Pipe const& output, Pipe const& complaint) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string const& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  Pipe refusal;  // Which closes when the program begins.
  pid_t const parent = getpid();
  pid_t const child = fork();
  if (child == 0) become(words, parent, output.ends[1], complaint.ends[1], refusal.ends[1]);
  int problem = errno;
  refusal.shut(1);
  if (child > 0) {
    ssize_t got = 0;
    while ((got = read(refusal.ends[0], &problem, sizeof problem)) < 0 && errno == EINTR) {
    }
    if (got <= 0) return child;
    waitpid(child, nullptr, 0);
  }
  std::string const why = arguments[0] + ": " + std::strerror(problem);
  if (child < 0) throw Error(ErrorKind::system, why + ". Let more processes be started (ulimit -u).");
  throw Error(ErrorKind::system,
              why + ". Both flavours of the command must lie in one folder: ./dev build makes them both.");
}

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

int unnamed_file(std::string const& folder) {
  int const unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  // Not every file system has files without a name from the start.
  std::string pattern = folder + "/penstock-XXXXXX";
  int const named = mkostemp(pattern.data(), O_CLOEXEC);
  if (named >= 0) unlink(pattern.c_str());
  return named;
}

}  // namespace

std::string build_text(std::string_view version, Flavour flavour, bool with_cuda) {
  std::string text(version);
  text += flavour == Flavour::legacy ? ", legacy default stream" : ", per-thread default streams";
  if (!with_cuda) text += ", without CUDA";
  return text;
}

std::string command_text(int count, char const* const* arguments) {
  std::string text;
  for (std::string const argument : std::span(arguments, static_cast<std::size_t>(count))) {
    if (!text.empty()) text += ' ';
    bool const plain = !argument.empty() && argument.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789_-./,:=+@%") == std::string::npos;
    if (plain) {
      text += argument;
      continue;
    }
    text += '\'';
    for (char const letter : argument) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    text += '\'';
  }
  return text;
}

ChildEnd run_child(std::vector<std::string> const& arguments, std::stop_token const& stop) {
  Pipe output;
  Pipe complaint;
  pid_t const child = start(arguments, output, complaint);
  output.shut(1);
  complaint.shut(1);
  ChildEnd end;
  {
    // Until the child is waited for, no other process has its number.
    std::stop_callback const interrupt(stop, [child] { kill(child, SIGTERM); });
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

std::string companion_library(std::string const& name) {
  std::filesystem::path const beside = std::filesystem::path(this_program()).parent_path();
  std::error_code none;
  for (std::filesystem::path const& folder : {beside, beside / PENSTOCK_COMPANIONS}) {
    if (std::filesystem::exists(folder / name, none)) return (folder / name).lexically_normal();
  }
  throw Error(ErrorKind::system, name + " is neither in " + beside.string() + " nor in " +
                                     (beside / PENSTOCK_COMPANIONS).lexically_normal().string() +
                                     ": install penstock again, with the programs.");
}

ScratchFile::ScratchFile() {
  char const* const chosen = std::getenv("TMPDIR");
  std::string const folder = chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
  descriptor_ = unnamed_file(folder);
  if (descriptor_ < 0) {
    std::error_code const problem(errno, std::generic_category());
    if (auto const error = shortage("A file in " + folder, problem)) throw *error;
    throw Error(ErrorKind::bad_argument, "No file can be made in " + folder + ": " + problem.message() +
                                             ". Let TMPDIR name a folder that can be written.");
  }
  path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_);
}

ScratchFile::~ScratchFile() {
  close(descriptor_);
}

}  // namespace penstock::cli
