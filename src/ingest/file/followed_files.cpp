// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/followed_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

FileSourceOptions const& expect_no_overlap(FileSourceOptions const& options) {
  if (options.overlap == 0) return options;
  throw Error(ErrorKind::bad_argument, "Tiles of files that are followed cannot overlap: ask for one of both.");
}

/// The reason why it cannot be followed, as far as that is known without its file.
std::optional<FileProblem> problem_of(InputFile const& input) {
  if (input.problem) return input.problem;
  if (input.path == "-") return FileProblem("standard input cannot be followed; read it without that");
  if (input.path.empty()) return FileProblem("an empty path names no file");
  if (input.descriptor || input.folder != nullptr) return FileProblem("it can be followed by its path only");
  return std::nullopt;
}

}  // namespace

FollowedFiles::FollowedFiles(FileSource::NextFile next_file, FileSourceOptions const& options, std::size_t tile_bytes)
    : next_file_(std::move(next_file)),
      options_(expect_no_overlap(options)),
      tile_bytes_(tile_bytes),
      watch_(options.stop) {}

void FollowedFiles::open_all() {
  for (auto input = next_file_(); input && !options_.stop.stop_requested(); input = next_file_()) {
    std::uint64_t const number = members_.size();
    if (options_.observer != nullptr) options_.observer->opened(number, *input);
    auto const look_for_changes = [this] { note_changes(ChangeWatch::Clock::time_point::min()); };
    members_.push_back({std::make_unique<FollowedFile>(*input, number, options_, tile_bytes_, watch_, look_for_changes),
                        std::make_shared<std::string const>(input->path), 0, problem_of(*input)});
  }
  opened_ = true;
}

void FollowedFiles::note_changes(std::optional<ChangeWatch::Clock::time_point> until) {
  watch_.wait(until, [&](std::size_t owner, ChangeWatch::News const& news) { members_[owner].file->note(news); });
}

std::optional<FollowedFiles::Next> FollowedFiles::next(std::span<std::byte> tile) {
  if (!opened_) open_all();
  std::optional<ChangeWatch::Clock::time_point> until = ChangeWatch::Clock::time_point::min();
  while (any_left()) {
    note_changes(until);
    if (options_.stop.stop_requested()) break;
    until = std::nullopt;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      std::size_t const number = (turn_ + k) % members_.size();
      Member& member = members_[number];
      if (auto got = next_of(member, number, tile)) {
        turn_ = number + 1;
        return got;
      }
      if (member.told) continue;
      if (auto const due = member.file->due(); due && (!until || *due < *until)) until = due;
    }
    // One look takes the events of all files from the queue, also of those that had their turn.
    if (any_changed()) until = ChangeWatch::Clock::time_point::min();
  }
  abandon();
  return std::nullopt;
}

/// Reads the next data of this file.
std::optional<FollowedFiles::Next> FollowedFiles::next_of(Member& member, std::uint64_t number,
                                                          std::span<std::byte> tile) {
  if (member.told) return std::nullopt;
  try {
    for (; !member.problem;) {
      member.file->look();
      auto const due = member.file->due();
      if (!due || *due > ChangeWatch::Clock::now()) return std::nullopt;
      if (auto piece = member.file->read(tile)) {
        ++member.tiles;
        return Next{std::move(*piece), member.name, std::nullopt};
      }
    }
  } catch (FileProblem const& problem) {
    member.problem = problem;
  }
  return fail(member, number);
}

/// Reports a file's problem: by a tile, or returns nothing if the observer was notified.
std::optional<FollowedFiles::Next> FollowedFiles::fail(Member& member, std::uint64_t number) {
  member.told = true;
  member.file->give_up();
  if (options_.observer == nullptr) return Next{{{number}, 0}, member.name, member.problem};
  options_.observer->failed(number, *member.problem);
  options_.observer->ended(number, member.tiles);
  return std::nullopt;
}

bool FollowedFiles::any_left() const {
  return std::ranges::any_of(members_, [](Member const& member) { return !member.told; });
}

bool FollowedFiles::any_changed() const {
  return std::ranges::any_of(members_, [](Member const& member) { return !member.told && member.file->changed(); });
}

void FollowedFiles::abandon() {
  for (std::size_t number = 0; number < members_.size(); ++number) {
    if (std::exchange(members_[number].told, true) || options_.observer == nullptr) continue;
    options_.observer->abandoned(number, members_[number].tiles);
  }
}

RecordLoss FollowedFiles::loss() const {
  RecordLoss all;
  for (Member const& member : members_) all += member.file->loss();
  return all;
}

std::uint64_t FollowedFiles::cut_records() const {
  std::uint64_t all = 0;
  for (Member const& member : members_) all += member.file->cut_records();
  return all;
}

std::vector<LeftOut> FollowedFiles::left_out() const {
  std::array entries{LeftOut{.unit = "file",
                             .reason = "removed or moved away by log rotation before it could be read",
                             .remedy = "keep more rotated files, or rotate less often"},
                     LeftOut{.unit = "record", .reason = "not finished when a followed file was truncated"},
                     LeftOut{.unit = "truncation",
                             .reason = "of a followed file before all of it was read",
                             .remedy = "rotate logs by renaming"},
                     LeftOut{.unit = "rotation",
                             .reason = "while the system dropped events, so that more files may have been missed",
                             .remedy = "raise fs.inotify.max_queued_events"}};
  auto& [files, records, truncations, rotations] = entries;
  for (Member const& member : members_) {
    files.count += member.file->files().lost();
    truncations.count += member.file->cut_truncations();
    truncations.bytes += member.file->cut_bytes();
    rotations.count += member.file->files().unseen_rotations();
  }
  records.count = cut_records();
  std::vector<LeftOut> all;
  add_left_out(all, entries);
  return all;
}

std::vector<std::string> FollowedFiles::remarks() const {
  std::vector<std::string> all;
  for (Member const& member : members_) {
    if (std::uint64_t const times = member.file->truncations(); times != 0) {
      all.push_back(*member.name + " was truncated while it was followed (times: " + std::to_string(times) +
                    "), and read from its beginning again: what was written between the last read and the truncation, "
                    "if anything, is lost.");
    }
    if (std::uint64_t const lost = member.file->files().lost(); lost != 0) {
      all.push_back(*member.name + ": " + count_text(lost, "file") + " that had this name " +
                    (lost == 1 ? "was gone before it" : "were gone before they") + " could be read.");
    }
    if (member.file->files().missed_events()) {
      all.push_back(*member.name +
                    ": the system dropped news of its folder, so files that had this name in between may be missed: "
                    "raise fs.inotify.max_queued_events.");
    }
  }
  return all;
}

}  // namespace penstock
