// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/file_walk.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "ingest/file/open_file.hpp"
#include "kernels/blake3/blake3_subtree.hpp"

namespace penstock::cli {
namespace {

/// Maximum number of directories that are kept open. The upper ones of a deeper tree are opened again on the way back.
constexpr std::size_t most_open = 32;

/// The reason why a file that is not regular is not hashed.
std::string problem_of(mode_t kind) {
  // A socket has no bytes that can be read by its name.
  if (S_ISSOCK(kind)) return "is a socket, which cannot be read";
  char const* const name = S_ISFIFO(kind) ? "a pipe" : S_ISCHR(kind) || S_ISBLK(kind) ? "a device" : "no regular file";
  return std::string("is ") + name + "; name it on the command line to read it";
}

std::string below(std::string const& folder, std::string const& name) {
  return folder + (folder.ends_with('/') ? "" : "/") + name;
}

/// True if a regular file that says it is empty has no bytes. A file in /proc always says so, and some of those cannot
/// be read from a place.
bool is_empty(OpenFile const& file, std::span<std::byte> room) {
  try {
    return file.read_at(0, room.first(1)) == 0;
  } catch (FileProblem const&) {
    return false;  // The error is reported when the file is read as a stream.
  }
}

}  // namespace

FileWalk::FileWalk(std::vector<std::string> paths, Shard shard) : paths_(std::move(paths)), shard_(shard) {}

std::optional<FoundFile> FileWalk::next() {
  for (;;) {
    auto found = find();
    if (!found || shard_.has(found_++)) return found;
  }
}

/// The next of all.
std::optional<FoundFile> FileWalk::find() {
  for (;;) {
    std::optional<FoundFile> problem;
    if (levels_.empty()) {
      if (next_path_ == paths_.size()) return std::nullopt;
      std::string const& path = paths_[next_path_++];
      struct stat status {};
      if (path == "-" || stat(path.c_str(), &status) != 0) return FoundFile{path};
      if (!S_ISDIR(status.st_mode)) return FoundFile{.path = path, .kind = status.st_mode & S_IFMT};
      problem = enter(path, nullptr, {});
    } else if (levels_.back().to_come.empty()) {
      problem = leave();
    } else {
      Level& level = levels_.back();
      OpenFolder::Entry entry = std::move(level.to_come.back());
      level.to_come.pop_back();
      // A directory that could be read only in part has an entry without a name, with the reason.
      std::string path = entry.name.empty() ? level.path : below(level.path, entry.name);
      if (!entry.problem.empty()) return FoundFile{std::move(path), std::move(entry.problem)};
      if (S_ISREG(entry.kind)) return FoundFile{std::move(path), {}, entry.kind, level.folder};
      if (!S_ISDIR(entry.kind)) return FoundFile{std::move(path), problem_of(entry.kind)};
      problem = enter(std::move(path), level.folder.get(), entry.name);
    }
    if (problem) return problem;
  }
}

/// Enters a directory: one that is named on the command line, or one of that name in another.
std::optional<FoundFile> FileWalk::enter(std::string path, OpenFolder const* in, std::string const& name) {
  Level level{.path = std::move(path)};
  try {
    level.folder =
        in == nullptr ? std::make_shared<OpenFolder const>(level.path) : std::make_shared<OpenFolder const>(*in, name);
  } catch (FileProblem const& problem) {
    return FoundFile{std::move(level.path), problem.sentence()};
  }
  try {
    level.folder->list(level.to_come);
  } catch (FileProblem const& problem) {
    level.to_come.push_back({{}, 0, problem.sentence()});
  }
  links_.fetch_add(std::erase_if(level.to_come, [](OpenFolder::Entry const& entry) { return S_ISLNK(entry.kind); }),
                   std::memory_order_relaxed);
  // A directory sorts as if its name ended with the slash that follows it in every path below it. The order is
  // reversed.
  for (OpenFolder::Entry& entry : level.to_come) {
    if (S_ISDIR(entry.kind)) entry.name += '/';
  }
  std::sort(level.to_come.begin(), level.to_come.end(),
            [](OpenFolder::Entry const& a, OpenFolder::Entry const& b) { return a.name > b.name; });
  for (OpenFolder::Entry& entry : level.to_come) {
    if (S_ISDIR(entry.kind)) entry.name.pop_back();
  }
  levels_.push_back(std::move(level));
  if (levels_.size() > most_open) {
    Level& far = levels_[levels_.size() - 1 - most_open];
    far.identity = far.folder->identity();
    far.folder = nullptr;
  }
  return std::nullopt;
}

/// Goes back to the directory above, and opens it again if it is no longer open.
std::optional<FoundFile> FileWalk::leave() {
  auto const left = std::move(levels_.back().folder);
  levels_.pop_back();
  if (levels_.empty() || levels_.back().folder != nullptr) return std::nullopt;
  Level& above = levels_.back();
  std::string problem = "it was moved while it was being read; hash it again";
  try {
    auto again = std::make_shared<OpenFolder const>(*left, "..");
    if (again->identity() == above.identity) {
      above.folder = std::move(again);
      return std::nullopt;
    }
  } catch (FileProblem const& refused) {
    problem = refused.sentence();
  }
  // None of the directories above can be found from here.
  FoundFile const lost{above.path, std::move(problem)};
  levels_.clear();
  return lost;
}

std::optional<WholeFile> hash_small_file(GroupedFile const& file, std::span<std::byte> room) {
  InputFile const& input = file.input;
  // Opening a pipe and closing it again would end it for its writer.
  if (struct stat status{}; !file.regular && stat(input.path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return std::nullopt;
  OpenFile const opened = input.folder == nullptr ? OpenFile(input.path) : OpenFile(*input.folder, input.path);
  if (!opened.pieces()) {
    if (!opened.regular() || !is_empty(opened, room)) return std::nullopt;
  }
  std::size_t const most = std::min(FileGroup::most_file_bytes, room.size());
  if (opened.size() > most) return std::nullopt;
  std::size_t const bytes = opened.read_at(0, room.first(static_cast<std::size_t>(opened.size())));
  opened.expect_unchanged();
  return WholeFile{.number = file.number, .digest = blake3_root(blake3_subtree(room.first(bytes), 0)), .bytes = bytes};
}

}  // namespace penstock::cli
