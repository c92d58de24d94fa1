// SPDX-License-Identifier: Apache-2.0
#include "observe/attribute.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/failure_text.hpp"
#include "observe/replay.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Maximum number of culprits; each takes a process.
constexpr std::size_t most_culprits = 8;
/// Additional time, beyond the lanes' patience, for a process to start and to report by itself that a tile does not
/// end.
constexpr std::chrono::seconds longer_than_lanes{10};

/// The arguments of this process.
std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string const all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size(); at += words.back().size() + 1) words.emplace_back(all.c_str() + at);
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(std::vector<std::string> const& more) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    std::string_view const text = *one;
    auto const same_name = [&](std::string const& other) {
      return text.starts_with(other.substr(0, other.find('=') + 1));
    };
    if (std::ranges::none_of(more, same_name)) all.emplace_back(text);
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Actions of a child between its start and its program.
struct Birth {
  Birth() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // The child gets its own process group: a terminal sends ctrl-C to this process only, which ends the child in its
    // own way.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  }
  Birth(Birth const&) = delete;
  Birth& operator=(Birth const&) = delete;
  ~Birth() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// Ends the child and the processes that it started: its group has its number.
void end_group(pid_t child) {
  if (kill(-child, SIGKILL) != 0) kill(child, SIGKILL);
}

struct Wake {
  int descriptor;
  void operator()() const noexcept { static_cast<void>(eventfd_write(descriptor, 1)); }
};

std::array<Descriptor, 2> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorKind::system, std::string("There is no pipe to be had: ") + std::strerror(errno) + ".");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The end of a process.
struct End {
  int status = 0;
  bool silent = false;  ///< It was ended, because it reached no other tile.
};

std::string text_of(End const& end) {
  if (end.silent) return "it came to no other tile for longer than the lanes have patience, and was ended";
  if (WIFSIGNALED(end.status)) {
    return "signal " + std::to_string(WTERMSIG(end.status)) + " (" + strsignal(WTERMSIG(end.status)) + ") ended it";
  }
  return "it ended with exit code " + std::to_string(WEXITSTATUS(end.status));
}

class Attributor {
 public:
  Attributor(int file, AttributionTask const& task, std::stop_token const& stop)
      : file_(file),
        task_(task),
        stop_(stop),
        view_(file),
        life_(make_pipe()),
        stopped_(eventfd(0, EFD_CLOEXEC)),
        wake_(stop, Wake{stopped_.number}) {}

  Attribution find() {
    Attribution found;
    try {
      while (found.remark.empty() && left() && !stop_.stop_requested()) found.remark = run_once();
    } catch (std::exception const& exception) {
      found.remark = exception.what();
    }
    if (stop_.stop_requested() && left()) found.remark = "They were not tried because a stop was requested.";
    for (LostTile const* const tile : view_.tiles()) add(found, *tile);
    return found;
  }

 private:
  bool left() const {
    return std::ranges::any_of(view_.tiles(), [](auto const* tile) { return tile->fate == Fate::not_tried; });
  }
  std::size_t tried() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(view_.tiles(), [](auto const* tile) { return tile->fate != Fate::not_tried; }));
  }

  /// Runs one process to its end. Returns the reason why another one is useless; nothing if it is not.
  std::string run_once() {
    std::size_t const before = tried();
    std::uint64_t const began = view_.header().began;
    Descriptor said(memfd_create("penstock-attribution", MFD_CLOEXEC));
    End const end = wait(start(said.number));
    if (stop_.stop_requested()) {
      // The stop may have ended the process, so a tile that ran then is not to blame.
      for (LostTile* const tile : view_.tiles()) {
        if (tile->fate == Fate::running) tile->fate = Fate::not_tried;
      }
      return "";
    }
    if (view_.header().began == began) {
      return "The program did not come to its pipeline again: " + text_of(end) + "." + last_line(said.number);
    }
    for (LostTile* const tile : view_.tiles()) {
      if (tile->fate != Fate::running) continue;
      put_text(tile->stage, "device");
      put_text(tile->reason, "The process that ran it did not survive it: " + text_of(end) + ".");
      tile->fate = Fate::guilty;
    }
    std::string problem = view_.header().problem.data();
    if (!problem.empty()) return problem;
    auto const guilty =
        std::ranges::count_if(view_.tiles(), [](auto const* tile) { return tile->fate == Fate::guilty; });
    if (static_cast<std::size_t>(guilty) >= most_culprits) return "Enough tiles fail: the rest was left.";
    return tried() > before ? "" : "No tile was tried: " + text_of(end) + ".";
  }

  pid_t start(int said) const {
    std::vector<std::string> words = task_.command.empty() ? own_command() : task_.command;
    std::string const program = task_.command.empty() ? "/proc/self/exe" : words.front();
    // Lanes wait after each step, but not for the stage's own streams.
    std::vector<std::string> environment =
        environment_with({replay_variable + ("=" + std::to_string(file_) + "," + std::to_string(life_[0].number)),
                          std::string("CUDA_LAUNCH_BLOCKING=") + (task_.given_up ? "0" : "1")});
    Birth with;
    posix_spawn_file_actions_addopen(&with.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&with.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&with.actions, said, STDERR_FILENO);
    for (int const kept : {file_, life_[0].number}) {
      posix_spawn_file_actions_adddup2(&with.actions, kept, kept);  // The child keeps it open.
    }
    pid_t child = 0;
    int const problem = posix_spawnp(&child, program.c_str(), &with.actions, &with.attributes, pointers(words).data(),
                                     pointers(environment).data());
    if (problem != 0) {
      throw Error(ErrorKind::system,
                  "A process for them could not be started (" + program + ": " + std::strerror(problem) + ").");
    }
    return child;
  }

  End wait(pid_t child) const {
    End end;
    Descriptor const ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    if (ended.number < 0) end_group(child);  // It was not possible to wait for its end.
    auto const slice = std::chrono::ceil<std::chrono::milliseconds>(
        std::min<std::chrono::nanoseconds>(Clock::real(task_.patience), std::chrono::hours(24)) + longer_than_lanes);
    for (std::size_t seen = tried(); ended.number >= 0;) {
      std::array<pollfd, 2> watched{pollfd{ended.number, POLLIN, 0}, pollfd{stopped_.number, POLLIN, 0}};
      int const ready = poll(watched.data(), watched.size(), static_cast<int>(slice.count()));
      if (ready < 0 && errno == EINTR) continue;
      if (ready > 0 && watched[1].revents == 0) break;
      end.silent = ready == 0 && tried() == seen;
      if (ready != 0 || end.silent) {
        end_group(child);
        break;
      }
      seen = tried();
    }
    while (waitpid(child, &end.status, 0) < 0 && errno == EINTR) {
    }
    return end;
  }

  /// The last line that the process wrote to standard error, preceded by a space.
  static std::string last_line(int said) {
    std::string text(4096, '\0');
    off_t const length = lseek(said, 0, SEEK_END);
    off_t const from = std::max<off_t>(0, length - static_cast<off_t>(text.size()));
    ssize_t const got = pread(said, text.data(), text.size(), from);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    auto const line = text.rfind('\n');
    text.erase(0, line == std::string::npos ? 0 : line + 1);
    return text.empty() ? "" : " It said: " + text;
  }

  static void add(Attribution& found, LostTile const& tile) {
    if (tile.fate == Fate::guilty) {
      found.culprits.push_back(
          {tile.sequence, tile.tag, {tile.stage.data(), tile.reason.data(), ErrorKind::device_lost}});
    } else {
      (tile.fate == Fate::innocent ? found.innocent : found.not_tried).push_back(tile.sequence);
    }
  }

  int const file_;
  AttributionTask const& task_;
  std::stop_token const& stop_;
  LostTilesView const view_;
  std::array<Descriptor, 2> const life_;  ///< A pipe to which only this process can write: its end shows the end of
                                          /// this process.
  Descriptor const stopped_;
  std::stop_callback<Wake> const wake_;
};

}  // namespace

Attribution attribute(LostTiles const& lost, AttributionTask const& task, std::stop_token const& stop) {
  Attribution found;
  if (lost.file() >= 0) {
    try {
      found = Attributor(lost.file(), task, stop).find();
    } catch (...) {
      found.remark = current_failure("", ErrorKind::system)->reason;
    }
  }
  found.not_tried.insert(found.not_tried.end(), lost.missing().begin(), lost.missing().end());
  auto const remark = [&](char const* more) { found.remark += (found.remark.empty() ? "" : " ") + std::string(more); };
  if (!lost.missing().empty()) remark("There was no memory to keep all tiles.");
  if (task.in_place) remark("Tiles are in place: one whose result had come back was run again on that result.");
  std::ranges::sort(found.culprits, {}, &Attribution::Culprit::sequence);
  std::ranges::sort(found.innocent);
  std::ranges::sort(found.not_tried);
  return found;
}

}  // namespace penstock
