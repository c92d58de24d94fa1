// SPDX-License-Identifier: Apache-2.0
#include "penstock/job.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/fnv.hpp"
#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

bool is_folder(std::string const& path) noexcept {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

[[noreturn]] void refuse(std::string const& remedy) {
  throw Error(ErrorKind::bad_argument, remedy);
}

}  // namespace

std::string const& JobValues::text(std::string_view name) const {
  static std::string const none;
  std::vector<std::string> const& all = texts(name);
  if (all.size() > 1) refuse("The option '" + std::string(name) + "' has several values: ask for texts().");
  return all.empty() ? none : all.front();
}

std::vector<std::string> const& JobValues::texts(std::string_view name) const {
  auto const found = all_.find(name);
  if (found == all_.end()) refuse("The job has no option '" + std::string(name) + "': name it in Job::options.");
  return found->second;
}

std::uint64_t JobValues::number(std::string_view name) const {
  std::string const& value = text(name);
  auto const number = whole_number_of(value);
  if (!number) refuse("--" + std::string(name) + " '" + value + "': give a whole number.");
  return *number;
}

std::uint64_t digest_of_bytes(std::span<std::byte const> bytes, std::uint64_t before) noexcept {
  static_assert(digest_of_nothing == fnv_of_nothing);
  return fnv(bytes, before);
}

JobOption number_option(std::string name, std::string sentence, std::uint64_t preset, std::uint64_t least,
                        std::uint64_t most) {
  return {.name = std::move(name),
          .sentence = std::move(sentence),
          .preset = std::to_string(preset),
          .read = [least, most](std::string const& value) {
            auto const number = whole_number_of(value, most);
            if (!number || *number < least)
              refuse("give a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ".");
            return std::to_string(*number);
          }};
}

JobOption word_option(std::string name, std::string sentence, std::vector<std::string> words) {
  std::string all;
  for (std::string const& word : words) all += (all.empty() ? "" : ", ") + word;
  return {.name = std::move(name),
          .sentence = std::move(sentence) + ": " + all,
          .preset = words.empty() ? "" : words.front(),
          .offered = all,
          .read = [words, all](std::string const& value) {
            if (std::ranges::find(words, value) == words.end()) refuse("there are " + all + ".");
            return value;
          }};
}

JobOption file_option(std::string name, std::string sentence) {
  return {.name = std::move(name),
          .sentence = std::move(sentence),
          .type = "FILE",
          .listed = false,
          .required = true,
          .names_input = true,
          .read = [](std::string const& path) {
            if (path.empty()) refuse("it names no file: give it a name.");
            if (path == "-") return path;  // Standard input.
            // It is not opened: the writer of a named pipe would take that for its reader, and be killed when it
            // closes.
            if (faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
              refuse(std::string(std::strerror(errno)) + ": name a file that can be read.");
            }
            if (is_folder(path)) refuse("it is a folder: name a file in it.");
            return path;
          }};
}

JobOption files_option(std::string name, std::string sentence) {
  JobOption option = file_option(std::move(name), std::move(sentence));
  option.several = true;
  return option;
}

JobOption folder_option(std::string name, std::string sentence) {
  JobOption option = file_option(std::move(name), std::move(sentence));
  option.type = "FOLDER";
  option.read = [](std::string const& path) {
    if (path.empty()) refuse("it names no folder: give it a name.");
    bool const there = access(path.c_str(), F_OK) == 0;
    if (there && !is_folder(path)) refuse("it is no folder: name the folder that has it.");
    if (!there || access(path.c_str(), R_OK | X_OK) != 0) {
      refuse(std::string(std::strerror(errno)) + ": name a folder that can be read.");
    }
    return path;
  };
  return option;
}

JobOption optional_file_option(std::string name, std::string sentence) {
  JobOption option = file_option(std::move(name), std::move(sentence));
  option.required = false;
  // Sources read standard input, not what else a job reads of files.
  option.read = [read = option.read](std::string const& path) { return read(path == "-" ? "./-" : path); };
  return option;
}

JobOption output_option(std::string name, std::string sentence) {
  return {.name = std::move(name),
          .sentence = std::move(sentence),
          .type = "FILE",
          .listed = false,
          .names_output = true,
          .read = [](std::string const& path) {
            if (path == "-") refuse("it names no file: name one, as ./-, or /dev/stdout for standard output.");
            return path;
          }};
}

}  // namespace penstock
