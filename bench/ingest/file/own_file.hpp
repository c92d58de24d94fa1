// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace penstock {

/// A file of random bytes, which is removed when the bench ends.
///
/// PENSTOCK_BENCH_FOLDER is its folder (default: that of temporary files), PENSTOCK_BENCH_MEBIBYTES its size.
class OwnFile {
 public:
  OwnFile() {
    char const* const folder = std::getenv("PENSTOCK_BENCH_FOLDER");
    char const* const mebibytes = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
    std::string name = (folder != nullptr ? std::filesystem::path(folder) : std::filesystem::temp_directory_path()) /
                       "penstock-reading-bench-XXXXXX";
    int const written = mkostemp(name.data(), O_CLOEXEC);
    path_ = name;
    std::size_t const bytes = static_cast<std::size_t>(mebibytes != nullptr ? std::max(8, std::atoi(mebibytes)) : 128)
                              << 20;
    std::vector<std::mt19937_64::result_type> block((std::size_t{4} << 20) / sizeof(std::mt19937_64::result_type));
    std::mt19937_64 random;
    std::ofstream out(path_, std::ios::binary);
    for (std::size_t at = 0; at < bytes; at += block.size() * sizeof block[0]) {
      for (auto& word : block) word = random();
      out.write(reinterpret_cast<char const*>(block.data()), std::streamsize(block.size() * sizeof block[0]));
    }
    out.close();
    // A page can leave the page cache only once it is on the disk.
    if (!out || written < 0 || fsync(written) != 0) std::fprintf(stderr, "%s was not written\n", path_.c_str());
    close(written);
  }
  OwnFile(OwnFile const&) = delete;
  OwnFile& operator=(OwnFile const&) = delete;
  ~OwnFile() { std::filesystem::remove(path_); }

  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace penstock
