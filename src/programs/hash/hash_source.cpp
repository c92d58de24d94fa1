// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "engine/core/failure_text.hpp"
#include "engine/core/pool.hpp"
#include "penstock/clock.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

/// The problem of a file, in the words of `penstock hash`.
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
                       std::stop_token stop, FileGrouping grouping)
    : next_file_(std::move(next_file)),
      tile_bytes_(pool.shape().input_bytes),
      book_(book),
      stop_(stop),
      grouping_(std::move(grouping)),
      // Each tile but the last is a whole subtree of its file's tree, so they are full.
      files_([this] { return next_wanted(); }, pool, {.stop = std::move(stop), .observer = this, .linger = {}}) {
  jobs_[0] = {&pool, std::vector<Job>(pool.size())};
  pools_.store(1, std::memory_order_release);
}

void HashSource::serve(Pool const& pool) {
  files_.serve(pool);  // It refuses one pool too many.
  std::size_t const served = pools_.load(std::memory_order_relaxed);
  jobs_[served] = {&pool, std::vector<Job>(pool.size())};
  // A thread that looks for a tile's job sees it completely made.
  pools_.store(served + 1, std::memory_order_release);
}

HashSource::Job const& HashSource::job_of(Tile const& tile) const {
  std::size_t const served = pools_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < served; ++i) {
    if (jobs_[i].pool == &tile.home()) return jobs_[i].of_tile.at(tile.index());
  }
  throw Error(ErrorKind::bad_argument, "This tile is of a pool that the source does not know: tell it by serve().");
}

/// The next wanted file; empty at the end of the input, and if it fails.
std::optional<WantedFile> HashSource::take_wanted() {
  if (ahead_) return std::exchange(ahead_, std::nullopt);
  if (input_failed_ != nullptr) return std::nullopt;
  try {
    return next_file_();
  } catch (...) {
    // The files before it have numbers, and must be hashed.
    input_failed_ = std::current_exception();
    return std::nullopt;
  }
}

std::optional<InputFile> HashSource::next_wanted() {
  std::optional<DeferredFiles::Deferred> again;
  std::optional<WantedFile> wanted;
  do {
    again = deferred_.take();
    // A stream, or a lease, may be long in coming, and the thread that waits for it keeps the mutex: files of groups
    // come first.
    if (!again && ((ahead_ && !ahead_->may_be_file()) || !is_ready())) again = deferred_.wait(stop_);
    wanted = again ? std::nullopt : take_wanted();
  } while (wanted && wanted->left_out);
  if (!again && !wanted) again = deferred_.wait(stop_);
  if (again) {
    comes_again_ = again->number;
    return std::move(again->input);
  }
  if (!wanted) {
    ended_ = true;
    if (input_failed_ != nullptr) std::rethrow_exception(std::exchange(input_failed_, nullptr));
    return std::nullopt;
  }
  expected_ = std::move(wanted->expected);
  shown_ = std::move(wanted->shown);
  lease_ = wanted->lease;
  InputFile input{.path = std::move(wanted->path), .folder = std::move(wanted->folder)};
  if (!wanted->problem.empty()) input.problem.emplace(wanted->problem);
  return input;
}

/// Number of files that make about FileGroup::usual_bytes, if they are as large as those that were opened so far.
std::size_t HashSource::files_of_a_group() const noexcept {
  std::size_t const deferred = deferred_files_.load(std::memory_order_relaxed);
  std::size_t const files = grouped_files_.load(std::memory_order_relaxed) + deferred;
  std::size_t const bytes = grouped_bytes_.load(std::memory_order_relaxed) + deferred * FileGroup::most_file_bytes;
  if (bytes == 0) return FileGroup::most_files;
  return std::clamp<std::size_t>(files * FileGroup::usual_bytes / bytes, 1, FileGroup::most_files);
}

/// Takes files from the input that may be small, as long as they come one after the other. It opens none of them: only
/// one producer at a time is here, while all of them open files at once.
std::vector<GroupedFile> HashSource::gather() {
  std::vector<GroupedFile> group;
  std::size_t const most = files_of_a_group();
  std::size_t folders = 0;
  OpenFolder const* last = nullptr;
  std::vector<HashedFile> named;
  while (group.size() < most && !stop_.stop_requested() && is_ready()) {
    auto wanted = take_wanted();
    if (!wanted) break;
    if (wanted->left_out) continue;
    bool const may_be_small = wanted->problem.empty() && wanted->may_be_file();
    if (wanted->folder != nullptr && std::exchange(last, wanted->folder.get()) != wanted->folder.get()) ++folders;
    if (!may_be_small || folders > FileGroup::most_folders) {
      ahead_ = std::move(wanted);
      break;
    }
    GroupedFile& file = group.emplace_back();
    file.regular = wanted->kind != 0;
    file.input.path = wanted->folder == nullptr ? wanted->path : wanted->path.substr(wanted->path.rfind('/') + 1);
    file.input.folder = std::move(wanted->folder);
    HashedFile& its = named.emplace_back();
    its.path = std::move(wanted->path);
    its.expected = std::move(wanted->expected);
    its.shown = std::move(wanted->shown);
    its.lease = wanted->lease;
  }
  if (group.empty()) return group;
  std::uint64_t number = book_.open(std::move(named));
  for (GroupedFile& file : group) file.number = number++;
  deferred_.group_began();
  return group;
}

/// Replaces the group, which is booked, by the files that follow; false if these are for `next`.
bool HashSource::goes_on(FileGroup& group) {
  // A thread that waits for a stream keeps the mutex.
  if (within_file_ || !deferred_.empty()) return false;
  std::scoped_lock const lock(mutex_);
  if (ended_ || within_file_ || !deferred_.empty()) return false;
  auto more = gather();
  if (more.empty()) return false;
  group.files = std::move(more);
  group.booked = false;
  return true;
}

bool HashSource::next(Tile& tile) {
  std::scoped_lock const lock(mutex_);
  Job& job = job_of(tile);
  job.group = {};
  if (grouping_.wanted && !within_file_ && deferred_.empty()) job.group.files = gather();
  if (!job.group.files.empty()) {
    tile.tag = tile.filled = 0;
    return true;
  }
  if (!files_.next(tile)) {
    for (std::uint64_t const file : deferred_.close()) abandon(file);
    return false;
  }
  job.file = file_;
  tile.tag = files_.place_of(tile).offset / blake3_chunk_bytes;
  return true;
}

std::size_t HashSource::fill(Tile& tile) {
  if (FileGroup& group = job_of(tile).group; !group.files.empty()) {
    auto const end = Clock::now() + grouping_.goes_on_for;
    do {
      hash(group, tile.input());
    } while (Clock::now() < end && goes_on(group));
    return 0;
  }
  try {
    return files_.fill(tile);
  } catch (FileProblem const& problem) {
    throw std::runtime_error(in_our_words(problem));
  }
}

/// Reads each small file of the group into `room`, hashes it there, and tells the book of all of them. Defers the
/// others.
void HashSource::hash(FileGroup& group, std::span<std::byte> room) {
  struct Ends {
    DeferredFiles& deferred;
    ~Ends() { deferred.group_ended(); }
  } const ends{deferred_};
  std::vector<WholeFile> files;
  files.reserve(group.files.size());
  std::uint64_t bytes = 0;
  for (GroupedFile& grouped : group.files) {
    std::optional<WholeFile> file;
    bool comes_later = false;
    try {
      file = hash_small_file(grouped, room);
      if (!file) comes_later = defer(grouped);
    } catch (FileProblem const& refused) {
      file = {.number = grouped.number, .problem = in_our_words(refused)};
    } catch (std::exception const& failed) {
      file = {.number = grouped.number, .problem = failure_text(failed)};
    }
    if (file) {
      grouped.input.folder = nullptr;
      bytes += file->bytes;
      files.push_back(std::move(*file));
    } else if (!comes_later) {
      abandon(grouped.number);
    }
  }
  group.bytes += bytes;
  grouped_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  grouped_files_.fetch_add(static_cast<std::uint64_t>(std::ranges::count(files, "", &WholeFile::problem)),
                           std::memory_order_relaxed);
  group.booked = true;
  book_.add(files);
}

/// False if there is no later: the run ends.
bool HashSource::defer(GroupedFile& grouped) {
  bool const taken = deferred_.put(grouped.number, std::move(grouped.input));
  deferred_files_.fetch_add(1, std::memory_order_relaxed);
  grouped.deferred = true;
  return taken;
}

/// Abandons a file that was deferred, and is not begun any more.
void HashSource::abandon(std::uint64_t file) {
  cut_short_ = true;
  book_.abandon(file, 0);
}

HashSource::Place HashSource::place_of(Tile const& tile) const {
  return {job_of(tile).file, files_.place_of(tile).offset / tile_bytes_};
}

FileGroup const* HashSource::group_of(Tile const& tile) const {
  FileGroup const& group = job_of(tile).group;
  return group.files.empty() ? nullptr : &group;
}

void HashSource::opened(std::uint64_t /*file*/, InputFile const& input) {
  auto const again = std::exchange(comes_again_, std::nullopt);
  file_ = again ? *again : book_.open(input.path, std::move(expected_), std::move(shown_), lease_);
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
  cut_short_ = true;
  book_.abandon(file_, tiles);
}

}  // namespace penstock::cli
