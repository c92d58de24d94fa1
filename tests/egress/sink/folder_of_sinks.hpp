// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/folder_of_files.hpp"

#include "penstock/error.hpp"

namespace penstock::support {

/// "0000001\n" and so on: records of eight bytes.
inline std::string numbered(int first, int count) {
  std::string text;
  for (int k = first; k < first + count; ++k) {
    std::string const number = std::to_string(k);
    text += std::string(7 - number.size(), '0') + number + "\n";
  }
  return text;
}

/// A folder in which sinks write. Every test must leave with no file that has a name of the writer's own.
struct FolderOfSinks : FolderOfFiles {
  void TearDown() override {
    for (auto const& entry : std::filesystem::directory_iterator(folder)) {
      EXPECT_EQ(entry.path().filename().string().find(".penstock-"), std::string::npos) << entry.path();
    }
    FolderOfFiles::TearDown();
  }
  std::string content(std::string const& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  void hold(std::string const& name, std::string const& text) const { std::ofstream(path(name)) << text; }
  /// Returns what the call throws; empty, if nothing.
  template <class Call>
  static std::string problem_of(Call call) {
    try {
      call();
    } catch (Error const& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace penstock::support
