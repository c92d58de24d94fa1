// SPDX-License-Identifier: Apache-2.0
#include "fuzz/harness.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace penstock::fuzz {

void require(bool holds, char const* sentence) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", sentence);
  std::abort();
}

std::string_view take_until(std::string_view& rest, char end) {
  std::size_t const length = std::min(rest.find(end), rest.size());
  std::string_view const part = rest.substr(0, length);
  rest.remove_prefix(std::min(length + 1, rest.size()));
  return part;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "penstock_fuzz_XXXXXX").string();
  require(mkdtemp(name.data()) != nullptr, "a folder for files can be made");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::write(std::string const& name, std::string_view bytes) const {
  std::filesystem::path const path = std::filesystem::path(path_) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  require(static_cast<bool>(file.flush()), "a file in it can be written");
}

}  // namespace penstock::fuzz
