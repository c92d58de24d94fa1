// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "support/folder_of_files.hpp"

#include "ingest/file/file_reader.hpp"
#include "ingest/file/open_file.hpp"

namespace penstock {

constexpr std::size_t page = 4096;

/// Readers of files, and memory to read to. It must leave with no descriptor more than there were.
struct AFileReader : support::FolderOfFiles {
  static constexpr std::size_t room_bytes = std::size_t{1} << 20;
  std::unique_ptr<std::byte, decltype(&std::free)> room{static_cast<std::byte*>(std::aligned_alloc(page, room_bytes)),
                                                        &std::free};
  std::size_t descriptors = 0;
  FileReadingOptions options{.reading = FileReading::plain, .direct_from = 1};

  void SetUp() override {
    FolderOfFiles::SetUp();
    descriptors = support::open_descriptors();
  }
  void TearDown() override {
    EXPECT_EQ(support::open_descriptors(), descriptors) << "something stayed open";
    FolderOfFiles::TearDown();
  }
  FileReader reader() const { return FileReader(options); }
  /// Returns the bytes of a read, or "wrong at" the first that is another, or why it failed.
  std::string read(FileReader& by, OpenFile& file, std::uint64_t offset, std::size_t bytes) const {
    std::fill_n(room.get(), room_bytes, std::byte{0xff});
    std::size_t got = 0;
    try {
      got = by.read(file, offset, {room.get(), bytes});
    } catch (FileProblem const& problem) {
      return problem.what();
    }
    for (std::size_t k = 0; k < room_bytes; ++k) {
      if (room.get()[k] != (k < got ? support::byte_at(offset + k) : std::byte{0xff})) {
        return "wrong at " + std::to_string(k);
      }
    }
    return std::to_string(got);
  }
  std::string read(FileReader& by, std::string const& path, std::uint64_t offset, std::size_t bytes) const {
    OpenFile file(path);
    return read(by, file, offset, bytes);
  }
};

}  // namespace penstock
