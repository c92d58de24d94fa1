// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/hash_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace penstock::cli {

HashSource::HashSource(std::function<std::optional<WantedFile>()> next_file, std::size_t tile_bytes, std::size_t tiles,
                       HashBook& book, std::stop_token stop)
    : next_file_(std::move(next_file)), tile_bytes_(tile_bytes), book_(book), stop_(std::move(stop)), jobs_(tiles) {}

bool HashSource::next(Tile& tile) {
  while (!stop_.stop_requested()) {
    if (current_ == nullptr && !open_next()) return false;
    if (current_ == nullptr) continue;
    if (!current_->pieces()) {
      if (next_of_stream(tile)) return true;
      continue;
    }
    std::uint64_t const start = current_tiles_ * tile_bytes_;
    give(tile, static_cast<std::size_t>(std::min<std::uint64_t>(tile_bytes_, current_->size() - start)), false);
    if (current_tiles_ * tile_bytes_ >= current_->size()) end_file();
    return true;
  }
  if (current_ != nullptr) {
    book_.abandon(current_number_, current_tiles_);
    current_ = nullptr;
  }
  return false;
}

/// Goes on to the next file; false if there is none. Leaves no current one if that file cannot be opened.
bool HashSource::open_next() {
  auto wanted = next_file_();
  if (!wanted) return false;
  current_number_ = book_.open(wanted->path, std::move(wanted->expected));
  current_tiles_ = 0;
  try {
    if (!wanted->problem.empty()) throw std::runtime_error(wanted->problem);
    current_ = std::make_shared<OpenFile>(wanted->path);
    if (current_->pieces()) current_->pieces_left = (current_->size() + tile_bytes_ - 1) / tile_bytes_;
  } catch (std::runtime_error const& problem) {
    book_.note(current_number_, problem.what());
    book_.close(current_number_, 0);
  }
  return true;
}

/// Reads the next tile of a stream; false if the stream was at its end and gave none.
bool HashSource::next_of_stream(Tile& tile) {
  std::size_t got = 0;
  bool ended = false;
  try {
    got = current_->read_on(tile.input().first(tile_bytes_), stop_);
    ended = got < tile_bytes_;
    if (ended && !stop_.stop_requested()) current_->expect_unchanged();
  } catch (std::runtime_error const& problem) {
    book_.note(current_number_, problem.what());
    end_file();
    return false;
  }
  if (stop_.stop_requested()) return false;
  // An empty stream is one empty tile; one that ends with a full tile has no tile after it.
  bool const gives = got > 0 || current_tiles_ == 0;
  if (gives) give(tile, got, true);
  if (ended) end_file();
  return gives;
}

void HashSource::give(Tile& tile, std::size_t bytes, bool filled) {
  tile.tag = current_tiles_ * (tile_bytes_ / blake3_chunk_bytes);
  tile.filled = bytes;
  jobs_.at(tile.index()) = {{current_number_, current_tiles_}, filled ? nullptr : current_, bytes};
  ++current_tiles_;
}

void HashSource::end_file() {
  book_.close(current_number_, current_tiles_);
  current_ = nullptr;
}

std::size_t HashSource::fill(Tile& tile) {
  Job& job = jobs_.at(tile.index());
  // Let go of at the end of this call: the last piece closes the file.
  auto const file = std::exchange(job.file, nullptr);
  if (file == nullptr) return tile.filled;
  std::size_t filled = 0;
  try {
    filled = file->read_at(job.place.tile * tile_bytes_, tile.input().first(job.bytes));
  } catch (...) {
    file->pieces_left.fetch_sub(1, std::memory_order_acq_rel);
    throw;
  }
  if (file->pieces_left.fetch_sub(1, std::memory_order_acq_rel) == 1) file->expect_unchanged();
  return filled;
}

}  // namespace penstock::cli
