// SPDX-License-Identifier: Apache-2.0
#include "lease/supervised_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// A pipe whose ends close at exec.
struct WorkerPipe {
  WorkerPipe() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorKind::system, "There is no pipe for a worker: " + system_problem(errno) + ".");
    from.number = ends[0];
    to.number = ends[1];
  }
  Descriptor from, to;
};

std::vector<std::string> environment_of_child(Environment const& more) {
  // What systemd asks of this process is not asked of its workers.
  constexpr std::array<std::string_view, 3> own{"NOTIFY_SOCKET=", "WATCHDOG_USEC=", "WATCHDOG_PID="};
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    std::string_view const text = *one;
    bool const is_own = std::ranges::any_of(own, [&](std::string_view name) { return text.starts_with(name); });
    bool const replaced =
        std::ranges::any_of(more, [&](auto const& pair) { return text.starts_with(pair.first + "="); });
    if (!is_own && !replaced) all.emplace_back(text);
  }
  for (auto const& [name, value] : more) all.emplace_back(name).append("=").append(value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string> const& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string const& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

/// What the child needs between fork and exec, where it may allocate nothing.
struct WorkerBirth {
  std::vector<char*> words;
  std::vector<char*> environment;
  int output, complaint, page;
  int refusal;  ///< Gets the number of the error.
  pid_t parent;
};

[[noreturn]] void become(WorkerBirth const& birth) {
  // The parent may have ended in between.
  bool ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == birth.parent && setpgid(0, 0) == 0;
  int const nothing = open("/dev/null", O_RDONLY);
  ready = ready && dup2(nothing, STDIN_FILENO) >= 0 && dup2(birth.output, STDOUT_FILENO) >= 0 &&
          dup2(birth.complaint, STDERR_FILENO) >= 0 && fcntl(birth.page, F_SETFD, 0) == 0;
  if (nothing > STDERR_FILENO) close(nothing);
  // SIGTERM asks it to end, and SIGINT may be ignored behind a shell.
  for (int const signal : {SIGTERM, SIGINT, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (ready) execve(birth.words[0], birth.words.data(), birth.environment.data());
  int const problem = errno;
  bool const told = write(birth.refusal, &problem, sizeof problem) == sizeof problem;
  _exit(told ? 127 : 126);
}

}  // namespace

SupervisedProcess::SupervisedProcess(std::vector<std::string> const& command, Environment const& environment)
    : memory_(make_worker_page()), page_(map_worker_page(memory_.number)) {
  if (page_ == nullptr)
    throw Error(ErrorKind::system, "There is no memory to share with a worker: " + system_problem(errno) + ".");
  try {
    WorkerPipe output, complaint, refusal;
    Environment more = environment;
    more.emplace_back(worker_page_variable, std::to_string(memory_.number));
    std::vector<std::string> const variables = environment_of_child(more);
    WorkerBirth const birth{pointers_to(command), pointers_to(variables), output.to.number, complaint.to.number,
                            memory_.number,       refusal.to.number,      getpid()};
    id_ = fork();
    if (id_ == 0) become(birth);
    int problem = errno;
    if (id_ < 0)
      throw Error(ErrorKind::system, "There is no process for a worker: " + system_problem(problem) +
                                         ". Let more processes be started (ulimit -u).");
    refusal.to.shut();
    ssize_t got = 0;
    do got = read(refusal.from.number, &problem, sizeof problem);
    while (got < 0 && errno == EINTR);
    if (got > 0) {
      waitpid(id_, nullptr, 0);
      throw Error(ErrorKind::system, command[0] + ": " + system_problem(problem) + ".");
    }
    ended_.number = static_cast<int>(syscall(SYS_pidfd_open, id_, 0));
    output_.number = std::exchange(output.from.number, -1);
    complaint_.number = std::exchange(complaint.from.number, -1);
  } catch (...) {
    unmap_worker_page(page_);
    throw;
  }
  memory_.shut();
}

SupervisedProcess::~SupervisedProcess() {
  if (!reaped_) {
    kill();
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  unmap_worker_page(page_);
}

std::optional<int> SupervisedProcess::look() {
  auto const id = static_cast<id_t>(id_);
  // It may have been stopped and continued since, in any number.
  while (!reaped_) {
    siginfo_t news{};
    if (waitid(P_PID, id, &news, WEXITED | WNOHANG | WNOWAIT) == 0 && news.si_pid != 0) {
      // While it is not reaped its number, and that of its group, are of no other process.
      kill();
      waitid(P_PID, id, &news, WEXITED);
      stopped_ = false;
      reaped_ = true;
      return news.si_code == CLD_EXITED ? news.si_status : -news.si_status;
    }
    // This reaps nothing: the process may end at any moment.
    news = {};
    if (waitid(P_PID, id, &news, WSTOPPED | WCONTINUED | WNOHANG) != 0 || news.si_pid == 0) break;
    stopped_ = news.si_code == CLD_STOPPED;
  }
  return std::nullopt;
}

void SupervisedProcess::ask_to_end() const noexcept {
  if (reaped_) return;
  ::kill(id_, SIGTERM);
  ::kill(id_, SIGCONT);
}

void SupervisedProcess::kill() const noexcept {
  if (reaped_) return;
  ::kill(-id_, SIGKILL);
  ::kill(id_, SIGKILL);
}

}  // namespace penstock
