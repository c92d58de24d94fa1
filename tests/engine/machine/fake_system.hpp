// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <stdlib.h>

namespace penstock {

/// A directory that plays the part of "/", with the files of a machine that we do not have; gone when it dies.
class FakeSystem {
 public:
  FakeSystem() {
    std::string pattern = (std::filesystem::temp_directory_path() / "penstock-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  FakeSystem(FakeSystem const&) = delete;
  FakeSystem& operator=(FakeSystem const&) = delete;
  ~FakeSystem() { std::filesystem::remove_all(root_); }

  std::filesystem::path const& root() const noexcept { return root_; }
  void write(std::string const& path, std::string const& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

 private:
  std::filesystem::path root_;
};

}  // namespace penstock
