// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/decoded_files.hpp"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

/// Size that a helping thread decodes at a time: a tile, unless that is very small or large.
std::size_t unit_bytes(std::size_t tile_bytes) {
  return std::clamp(tile_bytes, std::size_t{256} << 10, std::size_t{4} << 20);
}

}  // namespace

DecodedFile::DecodedFile(std::shared_ptr<OpenFile> opened, Compression compression, std::uint64_t file,
                         std::shared_ptr<std::string const> path, FileSourceOptions const& options,
                         std::size_t tile_bytes, bool places)
    : source(std::move(opened)),
      number(file),
      name(std::move(path)),
      bytes(source, compression, unit_bytes(tile_bytes)),
      cut_into(options, tile_bytes, places) {}

void DecodedFiles::add(std::shared_ptr<OpenFile> opened, Compression compression, std::uint64_t number,
                       std::shared_ptr<std::string const> name) {
  auto file = std::make_shared<DecodedFile>(std::move(opened), compression, number, std::move(name), options_,
                                            tile_bytes_, wants_places_);
  std::scoped_lock const lock(mutex_);
  files_.push_back(std::move(file));
}

/// Notifies the observer; its exception ends the input at the next call that takes, waits or abandons.
template <class News>
void DecodedFiles::tell(News news) {
  try {
    observed_.tell(news);
  } catch (...) {
    std::scoped_lock const lock(mutex_);
    if (thrown_ == nullptr) thrown_ = std::current_exception();
  }
}

/// Throws the observer's exception, if any. Under the lock.
void DecodedFiles::rethrow() {
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

/// Counts a file that is not read further. Under the lock.
void DecodedFiles::count(DecodedFile const& file) {
  loss_ += file.cut_into.loss();
  ++ended_;
  if (file.bytes.by_one()) ++by_one_;
}

std::shared_ptr<DecodedFile> DecodedFiles::take() {
  std::scoped_lock const lock(mutex_);
  rethrow();
  auto const free = std::ranges::find(files_, false, [](auto const& file) { return file->taken; });
  if (free == files_.end()) return nullptr;
  (*free)->taken = true;
  ++(*free)->tiles;
  return *free;
}

bool DecodedFiles::wait() {
  std::unique_lock lock(mutex_);
  left_.wait(lock, options_.stop, [this] {
    return files_.empty() || std::ranges::any_of(files_, [](auto const& file) { return !file->taken; });
  });
  rethrow();
  return !files_.empty() && !options_.stop.stop_requested();
}

void DecodedFiles::abandon() {
  std::vector<std::shared_ptr<DecodedFile>> abandoned;
  {
    std::scoped_lock const lock(mutex_);
    auto const free = std::partition(files_.begin(), files_.end(), [](auto const& file) { return file->taken; });
    abandoned.assign(free, files_.end());
    for (auto const& file : abandoned) {
      file->cut_into.break_off();
      count(*file);
    }
    files_.erase(free, files_.end());
  }
  for (auto const& file : abandoned) {
    observed_.tell([&](FileObserver& observer) { observer.abandoned(file->number, file->tiles); });
  }
  std::scoped_lock const lock(mutex_);
  rethrow();
}

DecodedFiles::Filled DecodedFiles::fill(std::shared_ptr<DecodedFile> const& file, std::span<std::byte> tile) {
  Filled filled;
  Left left = Left::failed;
  try {
    filled = read(*file, tile.first(tile_bytes_), left);
  } catch (FileProblem const& problem) {
    tell([&](FileObserver& observer) { observer.failed(file->number, problem); });
    leave(*file, left);
    if (!observed_.any()) throw;
    return {file->given, 0, nullptr, 0};
  } catch (...) {
    leave(*file, left);
    throw;
  }
  leave(*file, left);
  if (left == Left::goes_on) file->bytes.help(options_.stop);
  return filled;
}

DecodedFiles::Filled DecodedFiles::read(DecodedFile& file, std::span<std::byte> tile, Left& left) const {
  auto got = file.cut_into.next(file.bytes, tile);
  if (got.ended) expect_unchanged(*file.source, options_);
  left = got.ended ? Left::ended : Left::goes_on;
  file.given = got.offset + got.bytes;
  // The end of the file may be noticed only here, when its last tile has left: then there is nothing more for this
  // tile.
  if (got.more == 0 && file.tiles > 1)
    return {file.given, 0, file.cut_into.cut(), got.unfinished_bytes, {.framing = std::move(got.records.framing)}};
  return {got.offset, got.bytes, file.cut_into.cut(), got.unfinished_bytes, std::move(got.records)};
}

/// Releases the thread's file to others.
void DecodedFiles::leave(DecodedFile& file, Left left) {
  bool const stopped = left == Left::goes_on && options_.stop.stop_requested();
  tell([&](FileObserver& observer) {
    if (stopped) {
      observer.abandoned(file.number, file.tiles);
    } else if (left != Left::goes_on) {
      observer.ended(file.number, file.tiles);
    }
  });
  if (stopped) file.cut_into.break_off();
  std::scoped_lock const lock(mutex_);
  file.taken = false;
  if (stopped || left != Left::goes_on) {
    count(file);
    std::erase_if(files_, [&](auto const& one) { return one.get() == &file; });
  }
  left_.notify_all();
}

RecordLoss DecodedFiles::loss() const {
  std::scoped_lock const lock(mutex_);
  RecordLoss all = loss_;
  for (auto const& file : files_) all += file->cut_into.loss();
  return all;
}

std::string DecodedFiles::describe() const {
  std::scoped_lock const lock(mutex_);
  if (ended_ == 0) return {};
  std::string const all = "Files that were decoded: " + std::to_string(ended_);
  if (by_one_ == 0) return all + ", by all producers at once.";
  return all + "; " + std::to_string(by_one_) +
         " of them by one producer at a time, because it cannot be seen where parts of them end, or these are larger "
         "than 32 MiB. What bgzip, pzstd and lz4 write is decoded by all at once.";
}

}  // namespace penstock
