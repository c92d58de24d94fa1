// SPDX-License-Identifier: Apache-2.0
#include "programs/command/run_program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <span>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/error.hpp"
#include "programs/command/subreaper.hpp"

namespace penstock::cli {
namespace {

using SystemClock = std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorKind::system,
                  "pipe: " + std::string(std::strerror(errno)) + ". Let the process open more files (ulimit -n).");
    from.number = ends[0];
    to.number = ends[1];
  }
  Descriptor from;
  Descriptor to;
};

/// Pointers to words for exec.
std::vector<char*> pointers(std::vector<std::string> const& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string const& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(std::vector<std::pair<std::string, std::string>> const& more) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    std::string_view const text = *one;
    auto const replaced = [&](auto const& pair) { return text.starts_with(pair.first + "="); };
    if (std::none_of(more.begin(), more.end(), replaced)) all.emplace_back(text);
  }
  for (auto const& [name, value] : more) all.emplace_back(name).append("=").append(value);
  return all;
}

/// Data that the child needs between its fork and its program.
struct Birth {
  std::vector<char*> words;
  std::vector<char*> environment;
  std::array<int, 3> descriptors;  ///< -1 for an empty standard input.
  int refusal;                     ///< Gets the number of the error.
  pid_t parent;
};

/// Does only what is safe after a fork in a process of many threads. It unblocks all signals, which this process may
/// block in its threads. The child dies with the thread that started it.
[[noreturn]] void become(Birth const& birth) {
  // The parent may have ended in between.
  bool ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == birth.parent;
  int const nothing = open("/dev/null", O_RDONLY);
  for (int to = STDIN_FILENO; to <= STDERR_FILENO; ++to) {
    int const from = birth.descriptors[static_cast<std::size_t>(to)];
    ready = ready && dup2(from < 0 ? nothing : from, to) == to;
  }
  if (nothing > STDERR_FILENO) close(nothing);
  // SIGTERM asks it to end. Other ignored signals stay ignored, as SIGINT does behind a shell.
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (ready) execve(birth.words[0], birth.words.data(), birth.environment.data());
  int const problem = errno;
  // If the parent does not get the number it learns of the failure by the code.
  bool const told = write(birth.refusal, &problem, sizeof problem) == sizeof problem;
  _exit(told ? 127 : 126);
}

pid_t start(ProgramRun const& run, int output, int complaint) {
  std::vector<std::string> const environment = environment_with(run.environment);
  Pipe refusal;  // It closes when the program begins.
  Birth const birth{
      pointers(run.arguments), pointers(environment), {run.input, output, complaint}, refusal.to.number, getpid()};
  pid_t const child = fork();
  if (child == 0) become(birth);
  int problem = errno;
  refusal.to.shut();
  if (child > 0) {
    ssize_t got = 0;
    while ((got = read(refusal.from.number, &problem, sizeof problem)) < 0 && errno == EINTR) {
    }
    if (got <= 0) return child;
    waitpid(child, nullptr, 0);
  }
  std::string const why = run.arguments[0] + ": " + std::strerror(problem);
  throw Error(ErrorKind::system, child < 0 ? why + ". Let more processes be started (ulimit -u)." : why + ".");
}

std::chrono::nanoseconds time_of(rusage const& usage) {
  auto const of = [](timeval const& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// A program that runs, and its output so far.
class Running {
 public:
  Running(ProgramRun const& run, std::stop_token const& stop)
      : run_(run),
        stopped_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        interrupt_(stop, Wake{stopped_.number}),
        begun_(SystemClock::now()),
        child_(start(run, run.output >= 0 ? run.output : output_.to.number,
                     run.complaint >= 0 ? run.complaint : complaint_.to.number)),
        ended_(static_cast<int>(syscall(SYS_pidfd_open, child_, 0))) {
    end_.output = Heard(run.keep);
    end_.complaint = Heard(run.keep);
    output_.to.shut();
    complaint_.to.shut();
  }

  ProgramEnd finish(Subreaper const& subreaper) {
    if (run_.longest != std::chrono::nanoseconds::max()) deadline_ = begun_ + run_.longest;
    bool const told = ended_.number >= 0;
    while (told ? !reaped_ : listening()) step(told);
    reap();
    end_.left = subreaper.end_all();
    // Reads the rest from the pipes. Others may have them open, if they were not to be ended.
    while (run_.all_end && listening()) {
      if (!look({-1, -1}, std::chrono::milliseconds(0))) break;
    }
    return std::move(end_);
  }

 private:
  struct Wake {
    int descriptor;
    void operator()() const noexcept { static_cast<void>(eventfd_write(descriptor, 1)); }
  };

  bool listening() const { return output_.from.number >= 0 || complaint_.from.number >= 0; }

  void step(bool told) {
    auto const now = SystemClock::now();
    if (deadline_ && now >= *deadline_) {
      deadline_.reset();
      end_.overtime = true;
      ask_to_end(now);
    }
    if (kill_at_ && now >= *kill_at_) {
      kill_at_.reset();
      for (pid_t const process : descendants()) kill(process, SIGKILL);
    }
    std::optional<SystemClock::time_point> next = deadline_;
    if (kill_at_ && (!next || *kill_at_ < *next)) next = kill_at_;
    std::optional<std::chrono::milliseconds> patience;
    if (next) patience = std::chrono::ceil<std::chrono::milliseconds>(*next - now);
    look({told ? ended_.number : -1, stopped_.number}, patience);
  }

  void ask_to_end(SystemClock::time_point now) {
    if (asked_) return;
    asked_ = true;
    kill(child_, SIGTERM);
    kill_at_ = now + run_.grace;
  }

  /// Waits for any of these and for words of the program, at most for this long. Returns: whether there was anything.
  bool look(std::array<int, 2> others, std::optional<std::chrono::milliseconds> patience) {
    std::array<pollfd, 4> watched{pollfd{others[0], POLLIN, 0}, pollfd{others[1], POLLIN, 0},
                                  pollfd{output_.from.number, POLLIN, 0}, pollfd{complaint_.from.number, POLLIN, 0}};
    int const longest = patience ? static_cast<int>(std::clamp<std::int64_t>(patience->count(), 0, 1'000'000)) : -1;
    int const ready = poll(watched.data(), watched.size(), longest);
    if (ready < 0 && errno != EINTR) throw Error(ErrorKind::system, "poll: " + std::string(std::strerror(errno)) + ".");
    if (ready <= 0) return false;
    if (watched[2].revents != 0) hear(output_.from, end_.output);
    if (watched[3].revents != 0) hear(complaint_.from, end_.complaint);
    if (watched[1].revents != 0) {
      eventfd_t none = 0;
      eventfd_read(stopped_.number, &none);
      ask_to_end(SystemClock::now());
    }
    if (watched[0].revents != 0) reap();
    return true;
  }

  void hear(Descriptor& from, Heard& heard) {
    ssize_t const got = read(from.number, buffer_.data(), buffer_.size());
    if (got > 0) {
      heard.add({buffer_.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || errno != EINTR) {
      from.shut();
    }
  }

  void reap() {
    if (reaped_) return;
    int status = 0;
    rusage usage{};
    while (wait4(child_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    end_.wall = SystemClock::now() - begun_;
    end_.cpu = time_of(usage);
    end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + end_.signal;
  }

  ProgramRun const& run_;
  Pipe output_;
  Pipe complaint_;
  Descriptor stopped_;
  std::stop_callback<Wake> interrupt_;
  SystemClock::time_point begun_;
  pid_t const child_;
  Descriptor ended_;
  std::optional<SystemClock::time_point> deadline_;
  std::optional<SystemClock::time_point> kill_at_;
  bool asked_ = false;
  bool reaped_ = false;
  std::array<char, 65536> buffer_{};
  ProgramEnd end_;
};

}  // namespace

void Heard::add(std::string_view piece) {
  if (begin_.size() < keep_) begin_.append(piece.substr(0, keep_ - begin_.size()));
  sum_ = fnv(std::as_bytes(std::span(piece)), sum_);
  bytes_ += piece.size();
}

ProgramEnd run_program(ProgramRun const& run, std::stop_token const& stop) {
  Subreaper const subreaper(run.all_end);
  return Running(run, stop).finish(subreaper);
}

}  // namespace penstock::cli
