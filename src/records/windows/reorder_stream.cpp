// SPDX-License-Identifier: Apache-2.0
#include "records/windows/reorder_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "records/windows/floor_divide.hpp"

namespace penstock {
namespace {

/// Maximum position: a stream restarts before it exceeds it.
constexpr std::int64_t furthest_position = std::int64_t{1} << 62;

bool has(std::span<std::uint64_t const> mask, std::size_t row) noexcept {
  return is_present(mask, row);
}

void add(std::span<std::uint64_t> mask, std::size_t row) noexcept {
  mask[row / 64] |= std::uint64_t{1} << (row % 64);
}

}  // namespace

ReorderStream::ReorderStream(ReorderOptions const& options, std::uint32_t number, Send send)
    : record_bytes_(options.record_bytes),
      rows_(options.rows),
      window_(options.window_tiles),
      wrap_(~std::uint64_t{0} >> (64 - options.sequence_bits)),
      most_ahead_(options.most_ahead),
      most_behind_(options.most_behind),
      linger_(options.linger),
      zero_absent_(options.zero_absent),
      stream_(number),
      send_(std::move(send)),
      open_(window_) {
  for (Open& one : open_) one.seen.resize((rows_ + 63) / 64);
}

std::optional<Placed> ReorderStream::place(std::uint64_t sequence, std::span<std::byte const> record, Loan& spare,
                                           Time now) {
  auto const position = position_of(sequence & wrap_);
  if (!position) return ++counts_.refused, Placed::refused;
  if (*position > greatest_) advance_to(*position);
  std::int64_t const tile = floor_divide(*position, rows_);
  bool const before_all = least_fixed_ && *position < least_;
  if (before_all || tile <= last_tile_ - static_cast<std::int64_t>(window_)) return ++counts_.late, Placed::late;
  Open& open = open_of(tile);
  auto const row = static_cast<std::size_t>(*position - tile * static_cast<std::int64_t>(rows_));
  if (has(open.seen, row)) return ++counts_.duplicates, Placed::duplicate;
  if (row < open.given_up) return ++counts_.late, Placed::late;
  if (!open.loan) {
    if (!spare) return std::nullopt;
    open.loan = std::move(spare);
    open.since = now;
    open.present = 0;
    open.filled = 0;
    std::ranges::fill(mask_of(open), 0);
  }
  std::memcpy(open.loan->input().data() + row * record_bytes_, record.data(), record_bytes_);
  add(open.seen, row);
  add(mask_of(open), row);
  ++open.present;
  open.filled = std::max(open.filled, row + 1);
  least_ = std::min(least_, *position);
  ++counts_.placed;
  if (--open.awaited == 0) leave(open, RowsLeft::complete);
  return Placed::placed;
}

/// Position of a number; empty if it is refused.
std::optional<std::int64_t> ReorderStream::position_of(std::uint64_t number) {
  if (!began_) {
    began_ = true;
    begin_at(number);
  }
  std::uint64_t const ahead = (number - number_of(greatest_)) & wrap_, behind = (0 - ahead) & wrap_;
  // The stream restarts far from its beginning, so that positions stay in their range.
  auto const room = static_cast<std::uint64_t>(furthest_position - greatest_);
  bool const near = ahead <= behind ? ahead <= std::min(most_ahead_, room) : behind <= most_behind_;
  if (!near && number != restart_) {
    restart_ = (number + 1) & wrap_;
    return std::nullopt;
  }
  restart_.reset();
  if (near)
    return ahead <= behind ? greatest_ + static_cast<std::int64_t>(ahead)
                           : greatest_ - static_cast<std::int64_t>(behind);
  flush();
  ++counts_.restarts;
  begin_at(number);
  return greatest_;
}

void ReorderStream::begin_at(std::uint64_t number) {
  anchor_ = number - number % rows_;
  least_fixed_ = false;
  least_ = greatest_ = static_cast<std::int64_t>(number - anchor_);
  last_tile_ = 0;
  for (std::size_t before = 0; before < window_; ++before) {
    std::int64_t const tile = -static_cast<std::int64_t>(before);
    enter(open_of(tile), tile);
  }
}

/// Sends tiles that are behind the window.
void ReorderStream::advance_to(std::int64_t position) {
  std::int64_t const tile = floor_divide(position, rows_), window = static_cast<std::int64_t>(window_);
  for (std::int64_t n = last_tile_ - window + 1; n <= std::min(last_tile_, tile - window); ++n) {
    Open& behind = open_of(n);
    give_up(behind, rows_);
    leave(behind, RowsLeft::passed);
  }
  std::int64_t const skipped = std::max<std::int64_t>(0, tile - window - last_tile_);
  counts_.lost += static_cast<std::uint64_t>(skipped) * rows_;
  for (std::int64_t n = std::max(last_tile_, tile - window) + 1; n <= tile; ++n) enter(open_of(n), n);
  last_tile_ = tile;
  greatest_ = position;
}

void ReorderStream::enter(Open& open, std::int64_t number) {
  open.number = number;
  open.given_up = 0;
  open.awaited = rows_;
  std::ranges::fill(open.seen, 0);
}

/// Counts absent rows before `rows` as lost, if they are behind the first record of the stream.
void ReorderStream::give_up(Open& open, std::size_t rows) noexcept {
  if (rows <= open.given_up) return;
  std::int64_t const first = least_ - open.number * static_cast<std::int64_t>(rows_);
  if (first < static_cast<std::int64_t>(rows)) least_fixed_ = true;
  auto const from = std::max(open.given_up, static_cast<std::size_t>(std::max<std::int64_t>(0, first)));
  for (std::size_t row = from; row < rows; ++row) counts_.lost += has(open.seen, row) ? 0U : 1U;
  open.given_up = rows;
  open.awaited = rows_ - rows;
}

void ReorderStream::leave(Open& open, RowsLeft why) noexcept {
  if (!open.loan) return;
  Tile& tile = *open.loan;
  RowsOfTile const rows{.first = anchor_ + static_cast<std::uint64_t>(open.number) * rows_,
                        .stream = stream_,
                        .rows = static_cast<std::uint32_t>(rows_),
                        .present = open.present,
                        .why = why};
  std::memcpy(tile.input(1).data(), &rows, sizeof rows);
  auto const mask = mask_of(open);
  for (std::size_t row = 0; zero_absent_ && open.present < open.filled && row < open.filled; ++row) {
    if (!has(mask, row)) std::memset(tile.input().data() + row * record_bytes_, 0, record_bytes_);
  }
  tile.filled = open.filled * record_bytes_;
  tile.more_filled[0] = present_mask_bytes(rows_);
  tile.tag = stream_;
  ++counts_.left[static_cast<std::size_t>(why)];
  if (!send_(std::move(open.loan))) counts_.unsent += open.present;
}

std::optional<ReorderStream::Time> ReorderStream::send_waiting(Time now) noexcept {
  std::optional<Time> next;
  for_each_in_order([&](Open& open) {
    if (!open.loan) return;
    Time const due = open.since + linger_;
    if (due > now) {
      next = std::min(due, next.value_or(due));
      return;
    }
    give_up(open, rows_so_far(open));
    leave(open, RowsLeft::waited);
  });
  return next;
}

void ReorderStream::flush() noexcept {
  for_each_in_order([&](Open& open) {
    give_up(open, rows_so_far(open));
    leave(open, RowsLeft::asked);
  });
}

template <class Body>
void ReorderStream::for_each_in_order(Body body) {
  if (!began_) return;
  for (std::int64_t n = last_tile_ - static_cast<std::int64_t>(window_) + 1; n <= last_tile_; ++n) body(open_of(n));
}

ReorderStream::Open& ReorderStream::open_of(std::int64_t number) noexcept {
  auto const window = static_cast<std::int64_t>(window_);
  return open_[static_cast<std::size_t>(number - floor_divide(number, window_) * window)];
}

std::uint64_t ReorderStream::number_of(std::int64_t position) const noexcept {
  return (anchor_ + static_cast<std::uint64_t>(position)) & wrap_;
}

/// Rows up to the greatest number.
std::size_t ReorderStream::rows_so_far(Open const& open) const noexcept {
  auto const rows = static_cast<std::int64_t>(rows_);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(greatest_ + 1 - open.number * rows, 0, rows));
}

std::span<std::uint64_t> ReorderStream::mask_of(Open const& open) const noexcept {
  auto* const words = reinterpret_cast<std::uint64_t*>(open.loan->input(1).data() + sizeof(RowsOfTile));
  return {words, open.seen.size()};
}

}  // namespace penstock
