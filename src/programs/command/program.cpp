// SPDX-License-Identifier: Apache-2.0
#include "programs/command/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "observe/option_members.hpp"
#include "penstock/error.hpp"
#include "programs/command/run_program.hpp"

namespace penstock::cli {
namespace {

int unnamed_file(std::string const& folder) {
  int const unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  // Some file systems have no files without a name from the start.
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

std::string_view program_name() noexcept {
  constexpr std::string_view legacy = "-legacy";
  // The C library had this name from the command line. It is there in destructors of static objects, too.
  std::string_view name = program_invocation_short_name;
  if (name.ends_with(legacy)) name.remove_suffix(legacy.size());
  return name;
}

std::string message_of(std::string_view sentence) {
  return std::string(program_name()).append(": ").append(sentence).append("\n");
}

void tell(std::string_view sentence) noexcept {
  std::string_view const name = program_name();
  std::string translated;
  try {
    translated = in_options(sentence);
    sentence = translated;
  } catch (std::bad_alloc const&) {  // The sentence is then printed as it is.
  }
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(sentence.size()),
               sentence.data());
}

std::string title_of(std::string_view command) {
  return std::string(program_name()).append(" ").append(command);
}

ChildEnd run_child(std::vector<std::string> const& arguments, std::stop_token const& stop) {
  ProgramRun run;
  run.arguments = arguments;
  // A device that is being measured may take some time to be released.
  run.grace = std::chrono::hours(1);
  try {
    ProgramEnd end = run_program(run, stop);
    return {end.code, std::move(end.output.begin()), std::move(end.complaint.begin())};
  } catch (Error const& error) {
    throw Error(error.kind(), std::string(error.what()) +
                                  " Both flavours of the command must lie in one folder: ./dev build makes them both.");
  }
}

std::string complaint_of(ChildEnd const& end) {
  // The programs of both flavours have one name.
  std::string const speaker = std::string(program_name()) + ": ";
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

std::string companion_library(std::string const& name, std::string const& folder) {
  std::filesystem::path const beside = std::filesystem::path(this_program()).parent_path();
  std::vector<std::filesystem::path> folders{beside, (beside / PENSTOCK_COMPANIONS).lexically_normal()};
  if (!folder.empty()) folders.emplace_back(folder);
  std::string looked_in;
  std::error_code none;
  for (std::filesystem::path const& one : folders) {
    if (std::filesystem::exists(one / name, none)) return one / name;
    looked_in += (looked_in.empty() ? "" : ", ") + one.string();
  }
  throw Error(ErrorKind::system, name + " is in none of these folders: " + looked_in +
                                     ". Install penstock again, with its command, or copy the library beside the "
                                     "program; in penstock's own source, ./dev build makes it.");
}

ScratchFile::ScratchFile() {
  char const* const chosen = std::getenv("TMPDIR");
  std::string const folder = chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
  file_.number = unnamed_file(folder);
  if (file_.number < 0) {
    std::error_code const problem(errno, std::generic_category());
    if (auto const error = shortage("A file in " + folder, problem)) throw *error;
    throw Error(ErrorKind::bad_argument, "No file can be made in " + folder + ": " + problem.message() +
                                             ". Let TMPDIR name a folder that can be written.");
  }
  path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_.number);
}

}  // namespace penstock::cli
