// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/try/turned_program.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

constexpr char const* preload_variable = "LD_PRELOAD";

preload::TurnCounts* mapped(std::string const& path) {
  Descriptor const file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  void* room = MAP_FAILED;
  if (file.number >= 0 && ftruncate(file.number, sizeof(preload::TurnCounts)) == 0)
    room = mmap(nullptr, sizeof(preload::TurnCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0);
  if (room == MAP_FAILED) {
    throw Error(ErrorKind::system, "No file for what is counted: " + std::string(std::strerror(errno)) +
                                       ". Let TMPDIR name a folder with room.");
  }
  return static_cast<preload::TurnCounts*>(room);
}

/// Calls that name another stream than the legacy default one.
std::uint64_t others_of(preload::TurnCounts const& counts) {
  std::uint64_t all = 0;
  for (auto const& of : counts.calls) all += of[preload::by_per_thread_handle] + of[preload::by_own_handle];
  return all;
}

std::string calls_text(std::uint64_t count) {
  return count == 1 ? "1 call" : std::to_string(count) + " calls";
}

}  // namespace

TurnedProgram::TurnedProgram(Mode mode)
    : mode_(mode), library_path_(companion_library("libpenstock-turn.so")), counts_(mapped(file_.path())) {
  if (library_path_.find_first_of(": ") == std::string::npos) return;
  library_.number = open(library_path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (library_.number < 0) {
    munmap(counts_, sizeof *counts_);
    throw Error(ErrorKind::system, library_path_ + ": " + std::strerror(errno) + ". Let it be read.");
  }
  library_path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(library_.number);
}

TurnedProgram::~TurnedProgram() {
  munmap(counts_, sizeof *counts_);
}

std::vector<std::pair<std::string, std::string>> TurnedProgram::environment() const {
  char const* const others = std::getenv(preload_variable);
  std::string const all = others != nullptr && *others != 0 ? library_path_ + ":" + others : library_path_;
  return {{preload_variable, all}, {preload::mode_variable, (mode_ == Mode::look ? "look:" : "turn:") + file_.path()}};
}

std::string sentence_on_streams(preload::TurnCounts const& counts) {
  using namespace preload;
  auto const& legacy = counts.calls[static_cast<std::size_t>(Variant::legacy)];
  auto const& per_thread = counts.calls[static_cast<std::size_t>(Variant::per_thread)];
  std::uint64_t const in_legacy = legacy[by_zero], in_per_thread = per_thread[by_zero];
  std::uint64_t const by_handle = legacy[by_legacy_handle] + per_thread[by_legacy_handle];
  std::string text;
  if (in_legacy == 0 && in_per_thread > 0) {
    text = "It is built for per-thread default streams already: all its " + calls_text(in_per_thread) +
           " that name no stream mean them.";
  } else if (in_legacy + by_handle == 0 && others_of(counts) == 0 && counts.not_counted == 0) {
    text =
        "No call of it gives a stream any work, so another default stream makes no difference to it: what differs is "
        "noise.";
  } else if (in_legacy == 0) {
    text = "All its calls name a stream, so another default stream makes no difference to it: what differs is noise.";
  } else {
    text = calls_text(in_legacy) + " of it name no stream, and mean the legacy default stream";
    text += in_per_thread == 0 ? "." : "; " + std::to_string(in_per_thread) + " mean per-thread ones already.";
  }
  if (by_handle > 0)
    text += " " + calls_text(by_handle) + " name the legacy default stream by its handle, and stay in it.";
  return text;
}

}  // namespace penstock::cli
