// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/number_text.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/pool.hpp"
#include "penstock/records/windows.hpp"
#include "records/windows/due_thread.hpp"
#include "records/windows/fed_tiles.hpp"
#include "records/windows/reorder_stream.hpp"

namespace penstock {
namespace {

/// Limit that keeps positions, which are signed, in their range.
constexpr std::uint64_t furthest = std::uint64_t{1} << 61;

/// Replaces defaults in the options by numbers.
ReorderOptions resolved(ReorderOptions options, Pipeline& pipeline) {
  TileShape const& shape = pipeline.pool().shape();
  expect_option(options.record_bytes != 0, "Records have no size: say record_bytes.");
  std::size_t const fit = shape.input_bytes / options.record_bytes;
  if (options.rows == 0) options.rows = fit;
  expect_option(options.rows != 0 && options.rows <= fit && options.rows <= std::numeric_limits<std::uint32_t>::max(),
                "Tiles of " + size_text(shape.input_bytes) + " have no room for " + std::to_string(options.rows) +
                    " rows of " + size_text(options.record_bytes) + ": make them larger.");
  expect_option(shape.more_input_bytes[0] >= present_mask_bytes(options.rows),
                "Tiles have no room for the mask of their rows: give them a second input of present_mask_bytes(" +
                    std::to_string(options.rows) + "), " + std::to_string(present_mask_bytes(options.rows)) +
                    " bytes.");
  expect_option(options.sequence_bits >= 1 && options.sequence_bits <= 64, "Sequence numbers have 1 to 64 bits.");
  expect_option(options.streams != 0 && options.window_tiles != 0,
                "There is at least one stream, and a window of one tile.");
  std::size_t const tiles = pipeline.pool().size();
  expect_option(options.streams <= tiles && options.window_tiles <= tiles / options.streams,
                std::to_string(options.streams) + " streams with windows of " + std::to_string(options.window_tiles) +
                    " tiles need as many tiles: the pipeline has " + std::to_string(tiles) +
                    ". Give it more (Tuning::tiles).");

  std::uint64_t const half = ~std::uint64_t{0} >> (64 - options.sequence_bits) >> 1;
  expect_option(
      options.window_tiles <= half / options.rows,
      "A window is more than half of the sequence numbers: take fewer rows or tiles, or a sender with more bits.");
  std::uint64_t const window = options.window_tiles * options.rows;
  std::uint64_t const most = std::min(half, furthest);
  if (options.most_ahead == 0) options.most_ahead = std::min(most, std::max<std::uint64_t>(3000, 16 * window));
  if (options.most_behind == 0) options.most_behind = std::max(window, options.most_ahead);
  expect_option(options.most_ahead <= most && options.most_behind <= most,
                "most_ahead and most_behind are at most half of the sequence numbers, and at most 2^61: here " +
                    std::to_string(most) + ".");
  expect_option(options.most_behind >= window, "most_behind is less than a window of " + std::to_string(window) + ".");
  options.linger = std::clamp<std::chrono::microseconds>(options.linger, {}, longest_wait);
  return options;
}

std::span<std::byte const> header_of(Tile const& tile) {
  auto const bytes = tile.filled_input(1);
  RowsOfTile rows;
  if (bytes.size() >= sizeof rows) std::memcpy(&rows, bytes.data(), sizeof rows);
  expect_option(rows.rows != 0 && bytes.size() == present_mask_bytes(rows.rows),
                "The tile has no rows with a mask: it is not of a ReorderBuffer.");
  return bytes;
}

}  // namespace

RowsOfTile rows_of(Tile const& tile) {
  RowsOfTile rows;
  std::memcpy(&rows, header_of(tile).data(), sizeof rows);
  return rows;
}

std::span<std::uint64_t const> present_mask_of(Tile const& tile) {
  return elements<std::uint64_t>(header_of(tile).subspan(sizeof(RowsOfTile)));
}

ReorderCounts& ReorderCounts::operator+=(ReorderCounts const& other) noexcept {
  placed += other.placed;
  duplicates += other.duplicates;
  late += other.late;
  refused += other.refused;
  wrong_size += other.wrong_size;
  lost += other.lost;
  restarts += other.restarts;
  unsent += other.unsent;
  for (std::size_t k = 0; k < rows_left_kinds; ++k) left[k] += other.left[k];
  return *this;
}

std::string describe(ReorderCounts const& counts) {
  return "Of " + count_text(counts.received(), "record") + " that came " + std::to_string(counts.placed) +
         " were placed, " + std::to_string(counts.duplicates) + " were duplicates, " + std::to_string(counts.late) +
         " late, " + std::to_string(counts.refused) + " refused and " + std::to_string(counts.wrong_size) +
         " of a wrong size; " + std::to_string(counts.lost) + " are lost, and senders started again " +
         count_text(counts.restarts, "time") + ".";
}

/// The implementation of a ReorderBuffer.
class ReorderBuffer::Parts {
 public:
  Parts(Pipeline& pipeline, ReorderOptions const& asked)
      : options_(resolved(asked, pipeline)), tiles_(pipeline), streams_(options_.streams) {
    std::uint32_t number = 0;
    for (auto& one : streams_) one = std::make_unique<Stream>(options_, number++, tiles_);
    due_.emplace("ps-reorder", [this](Clock::time_point now) { return send_waiting(now); });
  }
  ~Parts() {
    due_.reset();
    flush();
  }

  Placed place(std::size_t stream, std::uint64_t sequence, std::span<std::byte const> record) {
    Stream& its = stream_of(stream);
    Loan spare;
    std::unique_lock lock(its.mutex);
    if (record.size() != options_.record_bytes) return its.rows.count_wrong_size(), Placed::wrong_size;
    auto placed = its.rows.place(sequence, record, spare, {});
    if (placed) return *placed;
    // Borrows without the lock, since the thread that sends late tiles needs that.
    lock.unlock();
    spare = tiles_.borrow();
    lock.lock();
    placed = its.rows.place(sequence, record, spare, Clock::now());
    lock.unlock();
    due_->wake();
    return *placed;
  }
  void flush() noexcept {
    for (auto const& one : streams_) {
      std::lock_guard const lock(one->mutex);
      one->rows.flush();
    }
  }
  ReorderCounts counts(std::size_t stream) const {
    Stream const& its = stream_of(stream);
    std::lock_guard const lock(its.mutex);
    return its.rows.counts();
  }
  std::size_t streams() const noexcept { return streams_.size(); }
  std::size_t rows() const noexcept { return options_.rows; }

  OwnProcess const process;

 private:
  struct Stream {
    Stream(ReorderOptions const& options, std::uint32_t number, FedTiles const& tiles)
        : rows(options, number, [&tiles](Loan loan) { return tiles.send(std::move(loan)); }) {}
    mutable std::mutex mutex;
    ReorderStream rows;
  };

  Stream& stream_of(std::size_t number) const {
    if (number < streams_.size()) return *streams_[number];
    throw Error(ErrorKind::bad_argument, "There is no stream " + std::to_string(number) + ": ReorderOptions says " +
                                             std::to_string(streams_.size()) + " streams.");
  }
  std::optional<Clock::time_point> send_waiting(Clock::time_point now) noexcept {
    std::optional<Clock::time_point> next;
    for (auto const& one : streams_) {
      std::lock_guard const lock(one->mutex);
      auto const its = one->rows.send_waiting(now);
      if (its) next = std::min(*its, next.value_or(*its));
    }
    return next;
  }

  ReorderOptions const options_;
  FedTiles const tiles_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::optional<DueThread> due_;
};

ReorderBuffer::ReorderBuffer(Pipeline& pipeline, ReorderOptions const& options)
    : parts_(std::make_unique<Parts>(pipeline, options)) {}

ReorderBuffer::~ReorderBuffer() {
  left_to_parent(parts_);
}

Placed ReorderBuffer::place(std::size_t stream, std::uint64_t sequence, std::span<std::byte const> record) {
  return parts_->place(stream, sequence, record);
}

void ReorderBuffer::flush() noexcept {
  parts_->flush();
}

ReorderCounts ReorderBuffer::counts() const {
  ReorderCounts all;
  for (std::size_t k = 0; k < parts_->streams(); ++k) all += parts_->counts(k);
  return all;
}

ReorderCounts ReorderBuffer::counts(std::size_t stream) const {
  return parts_->counts(stream);
}

std::size_t ReorderBuffer::rows() const noexcept {
  return parts_->rows();
}

}  // namespace penstock
