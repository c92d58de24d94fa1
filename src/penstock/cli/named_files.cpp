// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/named_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "penstock/core/error.hpp"

namespace penstock::cli {
namespace {

/// Files that were not there, and go again.
class Tried {
 public:
  Tried() = default;
  Tried(Tried const&) = delete;
  Tried& operator=(Tried const&) = delete;
  ~Tried() {
    std::error_code ignored;
    for (std::filesystem::path const& path : made_) std::filesystem::remove(path, ignored);
  }
  void open(std::string const& path) {
    std::error_code none;
    bool const there = std::filesystem::exists(path, none);
    std::ofstream const file(path, std::ios::app);
    if (!file)
      throw Error(ErrorKind::bad_argument, path + ": " + std::strerror(errno) + ". Name a file that can be written.");
    // What was made, if the path is a link to it.
    if (!there) made_.push_back(std::filesystem::canonical(path, none));
  }

 private:
  std::vector<std::filesystem::path> made_;
};

bool are_one(std::string const& one, std::string const& other) {
  // Standard input goes by this name, if it has one.
  std::string const path = one == "-" ? "/dev/stdin" : one;
  std::error_code none;
  // Whatever goes into a device like /dev/null spoils nothing.
  return std::filesystem::equivalent(path, other, none) && !std::filesystem::is_character_file(other, none);
}

}  // namespace

void expect_apart(std::span<NamedFile const> read, std::span<NamedFile const> written) {
  Tried tried;
  for (std::size_t i = 0; i < written.size(); ++i) {
    NamedFile const& file = written[i];
    if (file.path.empty()) continue;
    for (NamedFile const& input : read) {
      if (input.path.empty() || !are_one(input.path, file.path)) continue;
      throw Error(ErrorKind::bad_argument,
                  file.option + " " + file.path + " would overwrite what is to be read: name another file.");
    }
    tried.open(file.path);
    for (NamedFile const& other : written.first(i)) {
      if (other.path.empty() || !are_one(other.path, file.path)) continue;
      throw Error(ErrorKind::bad_argument, other.option + " and " + file.option + " both name " + other.path +
                                               ", which holds one of them: name another file for the other.");
    }
  }
}

}  // namespace penstock::cli
