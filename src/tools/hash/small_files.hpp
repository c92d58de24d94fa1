// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/file/open_folder.hpp"
#include "tools/hash/hash_book.hpp"

namespace penstock::cli {

/// One file that shall be hashed.
struct WantedFile {
  std::string path;
  std::string problem;                            ///< Why it cannot be, or empty.
  std::string expected;                           ///< What a check list says, or empty.
  std::string shown = {};                         ///< The path as that list has it, or empty.
  std::shared_ptr<OpenFolder const> folder = {};  ///< As InputFile::folder.
};

/// The bytes of a regular file that a thread should hash where it reads it; empty for all others. To open and read such
/// a file takes longer than to hash it, and a tile of its own would take longer still (decisions/0052).
///
/// Blocks: for a look at the file's status.
std::optional<std::size_t> small_file_bytes(WantedFile const& wanted, std::size_t most);

/// A file of a group, and its number in the HashBook.
struct GroupedFile {
  std::uint64_t number = 0;
  std::string path = {};
  std::shared_ptr<OpenFolder const> folder = {};
};

/// Reads a file into `room` and hashes it there. A file that has grown since it was found small may have as many bytes
/// as there is room.
///
/// Blocks: until it is read.
/// Throws: FileProblem.
WholeFile hash_small_file(GroupedFile const& file, std::span<std::byte> room);

/// Small files that one tile stands for: the thread that fills the tile reads and hashes them, one after the other, and
/// nothing of them goes to a device.
struct FileGroup {
  static constexpr std::size_t most_files = 128;
  static constexpr std::size_t most_file_bytes = std::size_t{256} << 10;
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< But for the last file of a group.
  static constexpr std::size_t most_folders = 8;  ///< Open until their files are read, for each producer.

  std::vector<GroupedFile> files = {};
  bool booked = false;      ///< The book was told of all of them.
  std::uint64_t bytes = 0;  ///< Hashed.
};

}  // namespace penstock::cli
