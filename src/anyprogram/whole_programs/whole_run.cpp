// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/whole_run.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>

#include "engine/core/descriptor.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

/// The part of the output that is kept, to show where two runs differ.
constexpr std::size_t kept_bytes = std::size_t{1} << 20;

/// The files that a result consists of, in order.
std::vector<std::string> files_of(std::string const& path) {
  std::error_code none;
  if (!fs::is_directory(path, none)) return fs::exists(path, none) ? std::vector{path} : std::vector<std::string>();
  std::vector<std::string> found;
  for (auto const& entry : fs::recursive_directory_iterator(path, none)) {
    if (entry.is_regular_file(none)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Properties that change when a file is written: inode and time of change.
using State = std::vector<std::uint64_t>;
State state_of(std::string const& path) {
  State state;
  for (std::string const& file : files_of(path)) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) continue;
    for (auto const value :
         {static_cast<std::uint64_t>(status.st_ino), static_cast<std::uint64_t>(status.st_ctim.tv_sec),
          static_cast<std::uint64_t>(status.st_ctim.tv_nsec)})
      state.push_back(value);
  }
  return state;
}

ResultSum sum_of(std::string const& path) {
  ResultSum sum;
  Heard all(0);
  std::vector<char> buffer(std::size_t{1} << 16);
  for (std::string const& file : files_of(path)) {
    ++sum.files;
    all.add(file);
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      throw Error(ErrorKind::system, "The result " + file + " cannot be read: " + std::strerror(errno) +
                                         ". Let --result name what the program leaves to be read.");
    }
    while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.gcount() > 0) {
      all.add({buffer.data(), static_cast<std::size_t>(in.gcount())});
      sum.bytes += static_cast<std::uint64_t>(in.gcount());
    }
  }
  sum.sum = all.sum();
  return sum;
}

/// The file for standard input; -1 for none.
int open_input(std::string const& path) {
  if (path.empty()) return -1;
  int const number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0)
    throw Error(ErrorKind::bad_argument,
                "--input " + path + ": " + std::strerror(errno) + ". Name a file that can be read.");
  return number;
}

}  // namespace

WholeRun run_once(WholeProgram const& program, std::vector<std::pair<std::string, std::string>> const& environment,
                  std::chrono::nanoseconds longest, std::stop_token const& stop) {
  std::vector<State> before;
  for (std::string const& path : program.results) before.push_back(state_of(path));
  Descriptor const input(open_input(program.input));
  ProgramRun run;
  run.arguments = program.arguments;
  run.environment = environment;
  run.input = input.number;
  run.keep = kept_bytes;
  run.longest = longest;
  WholeRun done{.end = run_program(run, stop), .results = {}};
  for (std::size_t i = 0; i < program.results.size(); ++i) {
    done.results.push_back(sum_of(program.results[i]));
    done.results.back().written = state_of(program.results[i]) != before[i];
  }
  return done;
}

}  // namespace penstock::cli
