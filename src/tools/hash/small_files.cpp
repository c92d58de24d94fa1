// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/small_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "penstock/file/file_problem.hpp"
#include "penstock/file/open_file.hpp"
#include "penstock/kernels/blake3_subtree.hpp"

namespace penstock::cli {

std::optional<std::size_t> small_file_bytes(WantedFile const& wanted, std::size_t most) {
  if (!wanted.problem.empty() || wanted.path == "-") return std::nullopt;
  struct stat status {};
  int const known = wanted.folder != nullptr
                        ? fstatat(wanted.folder->descriptor(), wanted.path.c_str() + wanted.path.rfind('/') + 1,
                                  &status, AT_SYMLINK_NOFOLLOW)
                        : stat(wanted.path.c_str(), &status);
  // One in /proc says that it is empty, whatever it holds: it is read as a stream.
  if (known != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return std::nullopt;
  auto const bytes = static_cast<std::uint64_t>(status.st_size);
  return bytes <= most ? std::optional(static_cast<std::size_t>(bytes)) : std::nullopt;
}

WholeFile hash_small_file(GroupedFile const& file, std::span<std::byte> room) {
  OpenFile const opened =
      file.folder == nullptr ? OpenFile(file.path) : OpenFile(*file.folder, file.path.substr(file.path.rfind('/') + 1));
  if (!opened.pieces()) throw FileProblem("it is no regular file with something in it any more", FileChange::shrank);
  if (opened.size() > room.size()) throw FileProblem("it is no small file any more", FileChange::grew);
  std::size_t const bytes = opened.read_at(0, room.first(static_cast<std::size_t>(opened.size())));
  opened.expect_unchanged();
  return {.number = file.number, .node = blake3_subtree(room.first(bytes), 0), .bytes = bytes};
}

}  // namespace penstock::cli
