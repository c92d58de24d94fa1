// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingest/file/open_file.hpp"

namespace penstock {

/// The way in which a tile was filled.
enum class ReadWay { plain, direct };

/// Reads pieces of regular files in the way that suits each, and through the page cache if no other is possible.
///
/// Bytes that a direct read does not deliver, because it came back short, was interrupted or refused, are read through
/// the page cache.
///
/// Threads: one at a time.
class FileReader {
 public:
  explicit FileReader(FileReadingOptions const& options) : options_(options) {}

  /// Has the contract of OpenFile::read_at.
  std::size_t read(OpenFile& file, std::uint64_t offset, std::span<std::byte> to);

  /// Number of calls of `read` so far that used this way.
  std::uint64_t count(ReadWay way) const noexcept { return counts_.at(static_cast<std::size_t>(way)); }
  /// Reasons why some used another way than the best; each a part of a sentence.
  std::vector<std::string> const& reasons() const noexcept { return reasons_; }

 private:
  bool wants_direct(OpenFile const& file, std::uint64_t offset, std::size_t bytes);
  std::optional<DirectAccess> direct(OpenFile& file, std::uint64_t offset, std::span<std::byte> to);
  void note(ReadWay way) { ++counts_.at(static_cast<std::size_t>(way)); }
  void note(std::string const& reason);

  FileReadingOptions const options_;
  std::array<std::uint64_t, 2> counts_{};
  std::vector<std::string> reasons_;
};

/// Readers, one for each producer that reads: as many as have ever read at once.
///
/// Threads: any.
class FileReaders {
 public:
  explicit FileReaders(FileReadingOptions const& options) : options_(options) {}
  FileReaders(FileReaders const&) = delete;
  FileReaders& operator=(FileReaders const&) = delete;

  /// Has the contract of OpenFile::read_at; it uses a reader that no other thread uses.
  std::size_t read(OpenFile& file, std::uint64_t offset, std::span<std::byte> to);
  /// A sentence with the numbers of pieces by way of reading, and the reasons for slower ways; empty if there were
  /// none.
  std::string describe();

 private:
  FileReadingOptions const options_;
  std::mutex mutex_;
  std::deque<FileReader> readers_;
  std::vector<FileReader*> idle_;
};

/// True if at least half of these bytes of the file are in the page cache, or if the system does not tell, as with
/// overlayfs.
///
/// Blocks: never; a microsecond.
bool in_page_cache(int descriptor, std::uint64_t offset, std::size_t bytes);

}  // namespace penstock
