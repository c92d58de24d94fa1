// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/hash_source.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "penstock/core/failure_text.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

/// What is wrong with a file, as `penstock hash` says it.
std::string in_our_words(FileProblem const& problem) {
  char const* happened = nullptr;
  switch (problem.change()) {
    case FileChange::none:
      return problem.sentence();
    case FileChange::shrank:
      happened = "shrank";
      break;
    case FileChange::grew:
      happened = "grew";
      break;
    case FileChange::changed:
      happened = "changed";
      break;
    case FileChange::relinked:
      return "it was linked or removed while it was being hashed, which may hide a change; hash it again, if it is "
             "still there";
  }
  return std::string("it ") + happened + " while it was being hashed; hash it again when no program writes to it";
}

}  // namespace

HashSource::HashSource(std::function<std::optional<WantedFile>()> next_file, Pool const& pool, HashBook& book,
                       std::stop_token stop, bool groups)
    : next_file_(std::move(next_file)),
      tile_bytes_(pool.shape().input_bytes),
      book_(book),
      stop_(stop),
      groups_(groups),
      // Each tile but the last is a whole subtree of its file's tree, so they are full.
      files_([this] { return next_wanted(); }, pool, {.stop = std::move(stop), .observer = this, .linger = {}}) {
  jobs_[0] = {&pool, std::vector<Job>(pool.size())};
  pools_.store(1, std::memory_order_release);
}

void HashSource::serve(Pool const& pool) {
  files_.serve(pool);  // It refuses a pool that is one too many.
  std::size_t const served = pools_.load(std::memory_order_relaxed);
  jobs_[served] = {&pool, std::vector<Job>(pool.size())};
  // A thread that looks for a tile's job finds all of it.
  pools_.store(served + 1, std::memory_order_release);
}

HashSource::Job const& HashSource::job_of(Tile const& tile) const {
  std::size_t const served = pools_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < served; ++i) {
    if (jobs_[i].pool == &tile.home()) return jobs_[i].of_tile.at(tile.index());
  }
  throw Error(ErrorKind::bad_argument, "This tile is of a pool that the source does not know: tell it by serve().");
}

std::optional<WantedFile> HashSource::take_wanted() {
  if (ahead_) return std::exchange(ahead_, std::nullopt);
  if (input_failed_ != nullptr) std::rethrow_exception(std::exchange(input_failed_, nullptr));
  return next_file_();
}

std::optional<InputFile> HashSource::next_wanted() {
  auto wanted = take_wanted();
  if (!wanted) return std::nullopt;
  expected_ = std::move(wanted->expected);
  shown_ = std::move(wanted->shown);
  InputFile input{.path = std::move(wanted->path), .folder = std::move(wanted->folder)};
  if (!wanted->problem.empty()) input.problem.emplace(wanted->problem);
  return input;
}

/// Takes small files from the input as long as they come one after the other.
void HashSource::gather(FileGroup& group) {
  std::size_t bytes = 0, folders = 0;
  while (group.files.size() < FileGroup::most_files && bytes < FileGroup::most_bytes && !stop_.stop_requested()) {
    std::optional<WantedFile> wanted;
    try {
      wanted = take_wanted();
    } catch (...) {
      // The files before it have numbers, and are to be hashed.
      if (group.files.empty()) throw;
      input_failed_ = std::current_exception();
      return;
    }
    if (!wanted) return;
    auto const size = small_file_bytes(*wanted, std::min(FileGroup::most_file_bytes, tile_bytes_));
    bool const in_another_folder =
        wanted->folder != nullptr && (group.files.empty() || group.files.back().folder != wanted->folder);
    folders += in_another_folder ? 1 : 0;
    if (!size || folders > FileGroup::most_folders) {
      ahead_ = std::move(wanted);
      return;
    }
    bytes += *size;
    GroupedFile& file = group.files.emplace_back();
    file.path = wanted->path;
    file.folder = std::move(wanted->folder);
    file.number = book_.open(std::move(wanted->path), std::move(wanted->expected), std::move(wanted->shown), 1);
  }
}

bool HashSource::next(Tile& tile) {
  Job& job = job_of(tile);
  job.group = {};
  if (groups_ && !within_file_) gather(job.group);
  if (!job.group.files.empty()) {
    tile.tag = tile.filled = 0;
    return true;
  }
  if (!files_.next(tile)) return false;
  job.file = file_;
  tile.tag = files_.place_of(tile).offset / blake3_chunk_bytes;
  return true;
}

std::size_t HashSource::fill(Tile& tile) {
  if (FileGroup& group = job_of(tile).group; !group.files.empty()) {
    hash(group, tile.input());
    return 0;
  }
  try {
    return files_.fill(tile);
  } catch (FileProblem const& problem) {
    throw std::runtime_error(in_our_words(problem));
  }
}

/// Reads each file of the group into `room`, hashes it there, and tells the book of all of them.
void HashSource::hash(FileGroup& group, std::span<std::byte> room) {
  std::vector<WholeFile> files;
  files.reserve(group.files.size());
  for (GroupedFile& grouped : group.files) {
    WholeFile& file = files.emplace_back();
    try {
      file = hash_small_file(grouped, room);
      group.bytes += file.bytes;
    } catch (FileProblem const& refused) {
      file = {.number = grouped.number, .problem = in_our_words(refused)};
    } catch (std::exception const& failed) {
      file = {.number = grouped.number, .problem = failure_text(failed)};
    }
    grouped.folder = nullptr;
  }
  grouped_bytes_.fetch_add(group.bytes, std::memory_order_relaxed);
  grouped_files_.fetch_add(static_cast<std::uint64_t>(std::ranges::count(files, "", &WholeFile::problem)),
                           std::memory_order_relaxed);
  group.booked = true;
  book_.add(files);
}

HashSource::Place HashSource::place_of(Tile const& tile) const {
  return {job_of(tile).file, files_.place_of(tile).offset / tile_bytes_};
}

FileGroup const* HashSource::group_of(Tile const& tile) const {
  FileGroup const& group = job_of(tile).group;
  return group.files.empty() ? nullptr : &group;
}

void HashSource::opened(std::uint64_t /*file*/, InputFile const& input) {
  file_ = book_.open(input.path, std::move(expected_), std::move(shown_));
  within_file_ = true;
}

void HashSource::failed(std::uint64_t /*file*/, FileProblem const& problem) {
  book_.note(file_, in_our_words(problem));
}

void HashSource::ended(std::uint64_t /*file*/, std::uint64_t tiles) {
  within_file_ = false;
  book_.close(file_, tiles);
}

void HashSource::abandoned(std::uint64_t /*file*/, std::uint64_t tiles) {
  within_file_ = false;
  book_.abandon(file_, tiles);
}

HashSink::HashSink(HashSource const& source, HashBook& book, Progress& progress, std::stop_source enough,
                   std::function<bool()> no_device_left)
    : source_(source),
      book_(book),
      progress_(progress),
      enough_(std::move(enough)),
      no_device_left_(std::move(no_device_left)) {}

void HashSink::take(Completion const& completion) {
  if (FileGroup const* const group = source_.group_of(*completion.loan)) return take(*group, completion);
  auto const place = source_.place_of(*completion.loan);
  switch (completion.outcome) {
    case Outcome::done: {
      Blake3Node node;
      std::memcpy(&node, completion.loan->output().data(), sizeof node);
      book_.add(place.file, place.tile, node, completion.loan->filled);
      progress_.add(completion.loan->filled);
      break;
    }
    case Outcome::failed:
      // First, since the book may throw.
      stop_without_device(completion);
      book_.fail(place.file, completion.failure->reason);
      break;
    case Outcome::cancelled:
      book_.cancel(place.file);
      break;
  }
}

/// Its files were hashed when the tile was filled, unless it never was.
void HashSink::take(FileGroup const& group, Completion const& completion) {
  progress_.add(group.bytes);
  if (completion.outcome == Outcome::failed) stop_without_device(completion);
  if (group.booked) {
    // The book threw what it was told there: lines may be missing, and the run is to say so.
    if (completion.outcome == Outcome::failed && completion.failure->stage == "source")
      throw Error(completion.failure->kind, completion.failure->reason);
    return;
  }
  for (GroupedFile const& file : group.files) {
    if (completion.outcome == Outcome::failed) {
      book_.fail(file.number, completion.failure->reason);
    } else {
      book_.cancel(file.number);
    }
  }
}

void HashSink::stop_without_device(Completion const& completion) {
  if (completion.failure->kind == ErrorKind::device_lost && no_device_left_()) enough_.request_stop();
}

}  // namespace penstock::cli
