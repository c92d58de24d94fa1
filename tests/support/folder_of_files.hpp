// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stop_token>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace penstock::support {

/// The byte at `offset` in each of a FolderOfFiles' files.
inline std::byte byte_at(std::uint64_t offset) {
  return static_cast<std::byte>(offset % 251);
}

/// Number of descriptors that this process has.
inline std::size_t open_descriptors() {
  std::filesystem::directory_iterator const all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// An empty folder of this test's own.
struct FolderOfFiles : testing::Test {
  std::string folder;

  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "penstock-files-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(std::string const& name) const { return folder + "/" + name; }

  /// Makes a file of `bytes` bytes that each differ from their neighbours, with an old time: a later write shows in its
  /// time. Returns its path.
  std::string file(std::string const& name, std::size_t bytes) const {
    std::string text(bytes, '\0');
    for (std::size_t k = 0; k < bytes; ++k) text[k] = static_cast<char>(byte_at(k));
    std::ofstream(path(name), std::ios::binary) << text;
    std::filesystem::last_write_time(path(name), {});
    return path(name);
  }
};

/// The writer's end of a named pipe, which does not wait for a reader.
class PipeWriter {
 public:
  explicit PipeWriter(std::string const& path)
      : descriptor_(mkfifo(path.c_str(), 0600) == 0 ? open(path.c_str(), O_RDWR | O_CLOEXEC) : -1) {
    EXPECT_GE(descriptor_, 0) << path;
  }
  PipeWriter(PipeWriter const&) = delete;
  PipeWriter& operator=(PipeWriter const&) = delete;
  ~PipeWriter() { end(); }

  void write(std::string const& text) const {
    EXPECT_EQ(::write(descriptor_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// Blocks: until all that was written has been read, or a stop is requested: by a reader that reads no further, say.
  void await_read(std::stop_token const& stop = {}) const {
    for (int left = 1; left != 0 && !stop.stop_requested();) {
      ASSERT_EQ(ioctl(descriptor_, FIONREAD, &left), 0);
    }
  }
  void end() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

}  // namespace penstock::support
