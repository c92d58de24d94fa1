// SPDX-License-Identifier: Apache-2.0
#include "records/windows/open_windows.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "records/windows/floor_divide.hpp"

namespace penstock {
namespace {

/// Subtracts; results beyond the range are set to its end.
std::int64_t less(std::int64_t time, std::int64_t by) noexcept {
  std::int64_t result = 0;
  return __builtin_sub_overflow(time, by, &result) ? std::numeric_limits<std::int64_t>::min() : result;
}

std::int64_t plus(std::int64_t time, std::int64_t more) noexcept {
  std::int64_t result = 0;
  return __builtin_add_overflow(time, more, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

}  // namespace

OpenWindows::OpenWindows(TimeWindowsOptions const& options, std::size_t tile_bytes, Send send)
    : length_(options.length),
      lateness_(options.lateness),
      most_ahead_(options.most_ahead),
      most_open_(options.most_open),
      tile_bytes_(tile_bytes),
      deadline_(options.deadline),
      send_(std::move(send)),
      greatest_of_(options.streams, never) {}

std::optional<Windowed> OpenWindows::add(std::size_t stream, std::int64_t time, std::span<std::byte const> record,
                                         Loan& spare, Time now) {
  if (record.empty() || record.size() > tile_bytes_) return ++counts_.wrong_size, Windowed::wrong_size;
  if (!believes(time)) return ++counts_.refused, Windowed::refused;
  note_time(stream, time);
  std::int64_t const number = floor_divide(time, static_cast<std::size_t>(length_));
  // The lowest window may begin below the lowest time.
  std::int64_t begin = 0;
  if (__builtin_mul_overflow(number, length_, &begin)) begin = never;
  std::int64_t const end = plus(begin, length_);
  auto found = windows_.find(begin);
  bool const opens = found == windows_.end();
  bool const full = opens && windows_.size() >= most_open_;
  // The first window closes if there is no room for another; that would be this one.
  if (end <= horizon_ || (full && begin < windows_.begin()->first)) return ++counts_.late, Windowed::late;
  bool const fits = !opens && record.size() <= tile_bytes_ - found->second.filled;
  if (!fits && !spare) return std::nullopt;
  if (full) close_up_to(windows_.begin()->second.says.end, WindowClosed::room);
  if (opens) {
    found = windows_.try_emplace(begin).first;
    found->second.since = now;
    found->second.says = {.begin = begin, .end = end};
  } else if (!fits) {
    leave(found->second);
    ++found->second.says.part;
  }
  Window& window = found->second;
  if (!fits) {
    window.loan = std::move(spare);
    window.filled = 0;
    window.says.records = 0;
  }
  std::memcpy(window.loan->input().data() + window.filled, record.data(), record.size());
  window.filled += record.size();
  ++window.says.records;
  return ++counts_.placed, Windowed::placed;
}

/// Windows that one wrong time has closed do not open again, so windows begin only with the first two times that are
/// near each other.
bool OpenWindows::believes(std::int64_t time) noexcept {
  if (most_ahead_ == 0) return true;
  if (greatest_ != never) return time <= plus(greatest_, most_ahead_);
  bool const confirmed = before_ && time <= plus(*before_, most_ahead_) && *before_ <= plus(time, most_ahead_);
  before_ = time;
  return confirmed;
}

/// Moves the watermark, which never passes a record's own window.
void OpenWindows::note_time(std::size_t stream, std::int64_t time) noexcept {
  greatest_ = std::max(greatest_, time);
  if (time <= greatest_of_[stream]) return;
  greatest_of_[stream] = time;
  std::int64_t const least = *std::ranges::min_element(greatest_of_);
  if (least == never) return;
  std::int64_t const watermark = less(least, lateness_);
  if (watermark > horizon_) close_up_to(watermark, WindowClosed::watermark);
}

void OpenWindows::close_up_to(std::int64_t end, WindowClosed why) noexcept {
  while (!windows_.empty() && windows_.begin()->second.says.end <= end) {
    Window& window = windows_.begin()->second;
    window.says.closed = why;
    ++counts_.closed[static_cast<std::size_t>(why)];
    leave(window);
    windows_.erase(windows_.begin());
  }
  horizon_ = std::max(horizon_, end);
}

void OpenWindows::leave(Window& window) noexcept {
  Tile& tile = *window.loan;
  std::memcpy(tile.input(1).data(), &window.says, sizeof window.says);
  tile.filled = window.filled;
  tile.more_filled[0] = sizeof window.says;
  tile.tag = static_cast<std::uint64_t>(window.says.begin);
  ++counts_.tiles;
  if (!send_(std::move(window.loan))) counts_.unsent += window.says.records;
}

std::optional<OpenWindows::Time> OpenWindows::close_overdue(Time now) noexcept {
  std::optional<std::int64_t> end;
  for (auto const& [begin, window] : windows_) {
    if (window.since + deadline_ <= now) end = window.says.end;
  }
  if (end) close_up_to(*end, WindowClosed::deadline);
  std::optional<Time> next;
  for (auto const& [begin, window] : windows_) {
    Time const due = window.since + deadline_;
    next = std::min(due, next.value_or(due));
  }
  return next;
}

void OpenWindows::flush() noexcept {
  if (!windows_.empty()) close_up_to(windows_.rbegin()->second.says.end, WindowClosed::asked);
}

}  // namespace penstock
