// SPDX-License-Identifier: Apache-2.0
#include "resources/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::sweep {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void throw_errno(char const* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A descriptor of this process, closed at the end.
struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {
    if (number < 0) throw_errno("descriptor");
  }
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;
  ~Descriptor() { close(number); }
  int const number;
};

constexpr int report_descriptor = 900;  ///< Above all limits that are swept, which do not hold for what is open.
constexpr int cannot_start = 121;       ///< The exit code of a child that did not come to be the program.

/// The strings as execve wants them; they must outlive it.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  for (std::string& one : strings) all.push_back(one.data());
  all.push_back(nullptr);
  return all;
}

/// Runs in the child: allocates nothing, since another thread may have been in malloc.
[[noreturn]] void become(Order const& order, int out, int err, int report, char* const* words,
                         char* const* environment) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int const nothing = open("/dev/null", O_RDONLY);
  bool well = dup2(nothing, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 && dup2(report, report_descriptor) >= 0 &&
              chdir(order.folder.c_str()) == 0;
  close(nothing);
  rlimit const no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (order.user) {
    well = well && setgroups(0, nullptr) == 0 && setgid(*order.user) == 0 && setuid(*order.user) == 0;
  }
  for (Limit const& limit : order.limits) {
    rlimit const both{limit.most, limit.most};
    well = well && setrlimit(static_cast<__rlimit_resource>(limit.resource), &both) == 0;
  }
  if (well) execve(words[0], words, environment);
  _exit(cannot_start);
}

std::string contents(int descriptor) {
  std::string text;
  std::array<char, 4096> piece{};
  off_t from = 0;
  for (ssize_t got = 0; (got = pread(descriptor, piece.data(), piece.size(), from)) > 0; from += got) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

void append_what_is_there(int pipe, std::string& text) {
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = read(pipe, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

/// Its two ends; to read from the first never waits.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return ends;
}

}  // namespace

Ended run_child(Order const& order, std::chrono::seconds patience) {
  std::vector<std::string> words = order.words, environment = order.environment;
  for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
  if (!order.preload.empty()) {
    environment.push_back("LD_PRELOAD=" + order.preload);
    environment.push_back("PENSTOCK_REFUSE_REPORT=" + std::to_string(report_descriptor));
  }
  auto const word_pointers = pointers(words), environment_pointers = pointers(environment);

  Descriptor const out(memfd_create("out", MFD_CLOEXEC));  // A file, as limits on files take it.
  std::array<int, 2> const err_ends = make_pipe(), report_ends = make_pipe();
  Descriptor const err(err_ends[0]), report(report_ends[0]);
  auto const started = Clock::now();
  pid_t const child = [&] {
    Descriptor const to_err(err_ends[1]), to_report(report_ends[1]);
    pid_t const forked = fork();
    if (forked < 0) throw_errno("fork");
    if (forked == 0)
      become(order, out.number, to_err.number, to_report.number, word_pointers.data(), environment_pointers.data());
    return forked;
  }();
  Descriptor const process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));

  Ended ended;
  for (bool running = true; running;) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(started + patience - Clock::now());
    std::array<pollfd, 2> watched{{{process.number, POLLIN, 0}, {err.number, POLLIN, 0}}};
    int const ready = poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    append_what_is_there(err.number, ended.err);
    ended.hung = ready == 0;
    running = ready != 0 && (watched[0].revents & POLLIN) == 0;
    if (running && (watched[1].revents & POLLHUP) != 0) {
      // It has closed its standard error; only its end is left to wait for.
      pollfd last{process.number, POLLIN, 0};
      ended.hung = poll(&last, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) == 0;
      running = false;
    }
  }
  kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  append_what_is_there(err.number, ended.err);
  append_what_is_there(report.number, ended.report);
  ended.out = contents(out.number);
  ended.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started);
  if (ended.hung) return ended;
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (ended.code == cannot_start) throw std::system_error(ENOEXEC, std::generic_category(), shell_line(order));
  return ended;
}

std::string shell_line(Order const& order) {
  std::string line = "cd " + order.folder + " &&";
  for (Limit const& limit : order.limits) {
    std::string const most = std::to_string(limit.most);
    if (limit.resource == RLIMIT_AS) line += " prlimit --as=" + most;
    if (limit.resource == RLIMIT_NOFILE) line += " prlimit --nofile=" + most;
    if (limit.resource == RLIMIT_FSIZE) line += " prlimit --fsize=" + most;
    if (limit.resource == RLIMIT_MEMLOCK) line += " prlimit --memlock=" + most;
    if (limit.resource == RLIMIT_NPROC) line += " prlimit --nproc=" + most;
  }
  if (order.user) {
    std::string const user = std::to_string(*order.user);
    line += " setpriv --reuid=" + user + " --regid=" + user + " --clear-groups";
  }
  line += " env";
  for (std::string const& one : order.environment) line += ' ' + one;
  if (!order.preload.empty()) line += " LD_PRELOAD=" + order.preload;
  for (std::string const& word : order.words) line += ' ' + word;
  return line;
}

}  // namespace penstock::sweep
