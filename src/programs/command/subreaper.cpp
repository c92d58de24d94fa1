// SPDX-License-Identifier: Apache-2.0
#include "programs/command/subreaper.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <system_error>
#include <utility>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::cli {
namespace {

/// The parent of a process; 0 if it is not there any more.
pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  // `read` takes it for the end if the process goes in between; an iterator throws.
  std::string line(512, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  // The name may hold anything; a state and the parent follow it.
  std::size_t const name_end = line.rfind(") ");
  pid_t parent = 0;
  if (name_end != std::string::npos && name_end + 4 < line.size())
    std::from_chars(line.data() + name_end + 4, line.data() + line.size(), parent);
  return parent;
}

}  // namespace

std::vector<pid_t> descendants() {
  std::vector<std::pair<pid_t, pid_t>> known;
  std::error_code none;
  std::filesystem::directory_iterator const end;
  for (std::filesystem::directory_iterator entry("/proc", none); entry != end; entry.increment(none)) {
    std::string const name = entry->path().filename();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ptr == name.data() + name.size())
      known.emplace_back(process, parent_of(process));
  }
  std::vector<pid_t> found{getpid()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (auto const& [process, parent] : known) {
      if (parent == found[i]) found.push_back(process);
    }
  }
  found.erase(found.begin());
  return found;
}

Subreaper::Subreaper(bool wanted) : wanted_(wanted) {
  if (wanted_) prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Subreaper::~Subreaper() {
  if (wanted_) prctl(PR_SET_CHILD_SUBREAPER, 0);
}

unsigned Subreaper::end_all() const {
  unsigned ended = 0;
  while (wanted_) {
    for (pid_t const process : descendants()) kill(process, SIGKILL);
    int status = 0;
    pid_t const gone = waitpid(-1, &status, __WALL);
    if (gone < 0 && errno == EINTR) continue;
    if (gone < 0) break;
    // The others had ended before, and had no parent that waited for them.
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++ended;
  }
  return ended;
}

}  // namespace penstock::cli
