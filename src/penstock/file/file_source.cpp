// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/file_source.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "penstock/core/number_text.hpp"

namespace penstock {
namespace {

FileSource::NextFile one_by_one(std::vector<std::string> paths) {
  return [paths = std::move(paths), at = std::size_t{0}]() mutable -> std::optional<InputFile> {
    if (at == paths.size()) return std::nullopt;
    return InputFile{.path = paths[at++]};
  };
}

/// The inputs of all tiles, which lie side by side.
std::span<std::byte> inputs_of(Pool const& pool) {
  std::byte* const first = pool.tile(0).input().data();
  auto const last = pool.tile(pool.size() - 1).input();
  return {first, last.data() + last.size()};
}

std::shared_ptr<OpenFile> open_file(InputFile const& input) {
  if (input.descriptor) return std::make_shared<OpenFile>(*input.descriptor);
  if (input.folder == nullptr) return std::make_shared<OpenFile>(input.path);
  return std::make_shared<OpenFile>(*input.folder, input.path.substr(input.path.rfind('/') + 1));
}

/// What a way is called, and in which order they are told.
constexpr std::array ways{
    std::pair{ReadWay::plain, "through the page cache"},
    std::pair{ReadWay::uring, "through the page cache by io_uring"},
    std::pair{ReadWay::direct, "past the page cache"},
    std::pair{ReadWay::direct_uring, "past the page cache by io_uring"},
};

}  // namespace

FileSource::FileSource(NextFile next_file, Pool const& pool, FileSourceOptions options)
    : next_file_(std::move(next_file)),
      tile_bytes_(pool.shape().input_bytes),
      options_(std::move(options)),
      inputs_(inputs_of(pool)) {
  if (tile_bytes_ == 0) {
    throw Error(ErrorKind::bad_argument, "Files are read into the tiles' input, and these have none: give them some.");
  }
  serve(pool);
}

FileSource::FileSource(std::vector<std::string> const& paths, Pool const& pool, FileSourceOptions options)
    : FileSource(one_by_one(paths), pool, std::move(options)) {}

void FileSource::serve(Pool const& pool) {
  if (pool.shape().input_bytes != tile_bytes_) {
    throw Error(ErrorKind::bad_argument, "A source that cuts files into pieces of " + size_text(tile_bytes_) +
                                             " cannot fill tiles of " + size_text(pool.shape().input_bytes) +
                                             ": give all its pools the same.");
  }
  // No other thread writes it, and a thread that reads it has a tile of a pool that was served before.
  std::size_t const served = pools_.load(std::memory_order_relaxed);
  if (served == most_pools) {
    throw Error(ErrorKind::bad_argument,
                "One source feeds up to " + std::to_string(most_pools) + " pools: read the files with several.");
  }
  jobs_[served] = {&pool, std::vector<Job>(pool.size())};
  // A thread that looks for a tile's job finds all of it.
  pools_.store(served + 1, std::memory_order_release);
}

FileSource::Job const& FileSource::job_of(Tile const& tile) const {
  std::size_t const served = pools_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < served; ++i) {
    if (jobs_[i].pool == &tile.home()) return jobs_[i].of_tile.at(tile.index());
  }
  throw Error(ErrorKind::bad_argument, "This tile is of a pool that the source does not know: tell it by serve().");
}

bool FileSource::next(Tile& tile) {
  while (!options_.stop.stop_requested()) {
    if (current_ == nullptr) {
      auto const input = next_file_();
      if (!input) return false;
      if (open(*input, tile)) return true;
      continue;
    }
    if (!current_->pieces()) {
      if (next_of_stream(tile)) return true;
      continue;
    }
    give(tile, static_cast<std::size_t>(std::min<std::uint64_t>(tile_bytes_, current_->size() - bytes_)), current_);
    if (bytes_ >= current_->size()) end_file();
    return true;
  }
  if (current_ != nullptr) {
    current_ = nullptr;
    if (options_.observer != nullptr) options_.observer->abandoned(file_, tiles_);
  }
  return false;
}

/// Makes this file the current one; or else tells why not. True if it does so by the tile.
bool FileSource::open(InputFile const& input, Tile& tile) {
  file_ = files_++;
  tiles_ = bytes_ = 0;
  name_ = std::make_shared<std::string const>(input.path);
  if (options_.observer != nullptr) options_.observer->opened(file_, input);
  try {
    if (input.problem) throw *input.problem;
    current_ = open_file(input);
    if (current_->pieces()) current_->pieces_left = (current_->size() + tile_bytes_ - 1) / tile_bytes_;
    return false;
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
}

/// Reads the next tile of a stream; false if the stream was at its end and gave none.
bool FileSource::next_of_stream(Tile& tile) {
  OpenFile::Gathered got;
  try {
    got = current_->gather(tile.input().first(tile_bytes_), options_.linger, options_.stop);
    if (got.ended && !options_.stop.stop_requested()) current_->expect_unchanged();
  } catch (FileProblem const& problem) {
    return fail_file(problem, tile);
  }
  if (options_.stop.stop_requested()) return false;
  // An empty stream is one empty tile; one that ends behind a tile that has left has no tile after it.
  bool const gives = got.bytes > 0 || tiles_ == 0;
  if (gives) give(tile, got.bytes, nullptr);
  if (got.ended) end_file();
  return gives;
}

/// Tells what is wrong with the current file, and ends it: true if by this tile, false if the observer knows.
bool FileSource::fail_file(FileProblem const& problem, Tile& tile) {
  bool const by_tile = options_.observer == nullptr;
  if (by_tile) {
    give(tile, 0, nullptr);
    job_of(tile).problem = problem;
  } else {
    options_.observer->failed(file_, problem);
  }
  end_file();
  return by_tile;
}

void FileSource::give(Tile& tile, std::size_t bytes, std::shared_ptr<OpenFile> to_read) {
  tile.tag = file_;
  tile.filled = bytes;
  job_of(tile) = {{file_, bytes_}, std::move(to_read), std::nullopt, name_, bytes};
  ++tiles_;
  bytes_ += bytes;
}

void FileSource::end_file() {
  current_ = nullptr;
  if (options_.observer != nullptr) options_.observer->ended(file_, tiles_);
}

std::size_t FileSource::fill(Tile& tile) {
  Job& job = job_of(tile);
  if (job.problem) throw FileProblem(*job.name, *job.problem);
  // Let go of at the end of this call: the last piece closes the file.
  auto const file = std::exchange(job.file, nullptr);
  if (file == nullptr) return tile.filled;
  try {
    return read(*file, job.place.offset, tile.input().first(job.bytes));
  } catch (FileProblem const& problem) {
    throw FileProblem(*job.name, problem);
  }
}

/// Reads a piece, and looks behind the last one whether the file changed meanwhile.
std::size_t FileSource::read(OpenFile& file, std::uint64_t offset, std::span<std::byte> to) {
  std::size_t filled = 0;
  try {
    filled = read_by_idle_reader(file, offset, to);
  } catch (...) {
    file.pieces_left.fetch_sub(1, std::memory_order_acq_rel);
    throw;
  }
  if (file.pieces_left.fetch_sub(1, std::memory_order_acq_rel) == 1) file.expect_unchanged();
  return filled;
}

/// Producers that fill at the same time have a reader each, and so a queue of requests each.
std::size_t FileSource::read_by_idle_reader(OpenFile& file, std::uint64_t offset, std::span<std::byte> to) {
  struct Idle {
    FileSource& source;
    FileReader* reader = nullptr;
    explicit Idle(FileSource& of) : source(of) {
      std::scoped_lock const lock(source.readers_mutex_);
      if (source.idle_.empty()) {
        // Nothing may throw when it goes back.
        source.idle_.reserve(source.readers_.size() + 1);
        reader = &source.readers_.emplace_back(source.options_.reading, source.inputs_, source.options_.open_queue);
      } else {
        reader = source.idle_.back();
        source.idle_.pop_back();
      }
    }
    Idle(Idle const&) = delete;
    Idle& operator=(Idle const&) = delete;
    ~Idle() {
      std::scoped_lock const lock(source.readers_mutex_);
      source.idle_.push_back(reader);
    }
  };
  Idle const idle(*this);
  return idle.reader->read(file, offset, to);
}

std::vector<std::string> FileSource::remarks() const {
  std::scoped_lock const lock(readers_mutex_);
  std::string how;
  for (auto const& [way, name] : ways) {
    std::uint64_t tiles = 0;
    for (FileReader const& reader : readers_) tiles += reader.count(way);
    if (tiles != 0) how += (how.empty() ? "" : ", ") + std::to_string(tiles) + " " + name;
  }
  if (how.empty()) return {};
  std::set<std::string> reasons;
  for (FileReader const& reader : readers_) reasons.insert(reader.reasons().begin(), reader.reasons().end());
  std::string why;
  for (std::string const& reason : reasons) why += "; " + reason;
  return {"Tiles read from files: " + how + why + "."};
}

}  // namespace penstock
