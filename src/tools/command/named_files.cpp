// SPDX-License-Identifier: Apache-2.0
#include "tools/command/named_files.hpp"

#include <filesystem>
#include <tuple>

#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

bool are_one(std::string const& one, std::string const& other) {
  // Standard input goes by this name, if it has one.
  std::string const path = one == "-" ? "/dev/stdin" : one;
  std::error_code none;
  // Whatever goes into a device like /dev/null spoils nothing.
  return std::filesystem::equivalent(path, other, none) && !std::filesystem::is_character_file(other, none);
}

[[noreturn]] void refuse(NamedFile const& file, std::string const& why) {
  throw Error(ErrorKind::bad_argument, file.option + " " + file.path + " " + why);
}

[[noreturn]] void refuse_both(std::string const& one, NamedFile const& other, std::string const& path) {
  throw Error(ErrorKind::bad_argument, one + " and " + other.option + " both name " + path +
                                           ", which holds one of them: name another file for the other.");
}

}  // namespace

FilesToWrite::FilesToWrite(std::span<NamedFile const> read, std::span<NamedFile const> written,
                           std::stop_token const& stop) {
  for (NamedFile const& file : written) {
    if (file.path.empty()) continue;
    for (NamedFile const& input : read) {
      if (input.path.empty() || input.rewritten_by == file.option || !are_one(input.path, file.path)) continue;
      refuse(file, "would overwrite what is to be read: name another file.");
    }
    // Before it is opened, which for a pipe may wait.
    for (auto const& [option, other] : files_) {
      if (are_one(other.path(), file.path)) refuse_both(option, file, other.path());
    }
    files_.emplace_back(std::piecewise_construct, std::tuple(file.option), std::tuple(file.path, stop));
    expect_apart(file, files_.back().second);
  }
}

void FilesToWrite::expect_apart(NamedFile const& file, OutputFile const& found) const {
  for (auto const& [option, other] : files_) {
    if (&other != &found && other.is_replaced() && found.is_replaced() && found.is(other))
      refuse_both(option, file, other.path());
  }
  for (int const descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (!found.is_replaced() || fstat(descriptor, &status) != 0 || !found.is(status)) continue;
    bool const output = descriptor == STDOUT_FILENO;
    refuse(file, std::string("is where standard ") + (output ? "output" : "error") + " goes: name another file, or " +
                     (output ? "/dev/stdout." : "/dev/stderr."));
  }
}

OutputFile* FilesToWrite::of(std::string_view option) {
  for (auto& [name, file] : files_) {
    if (name == option) return &file;
  }
  return nullptr;
}

CLI::Validator names_a_file() {
  return {[](std::string& path) -> std::string { return path.empty() ? "'' names no file: give it a name" : ""; }, ""};
}

}  // namespace penstock::cli
