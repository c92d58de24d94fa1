// SPDX-License-Identifier: Apache-2.0
#include "ingest/framing/stream_cutter.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

/// Maximum memory that a stream keeps while it holds nothing.
constexpr std::size_t largest_spare = 4096;

}  // namespace

std::size_t StreamCutter::begin(std::span<std::byte> tile) {
  std::size_t const held = left_.size();
  if (held != 0) std::memcpy(tile.data(), left_.data(), held);
  left_.clear();
  offset_ = next_offset_;
  looked_at_ = 0;
  tile_bytes_ = tile.size();
  return held;
}

StreamCutter::Cut StreamCutter::take(std::span<std::byte> room, std::size_t bytes, bool ended, std::size_t tile_bytes) {
  std::size_t const held = left_.size();
  tile_bytes_ = tile_bytes;
  if (held > bytes && !ended) {
    auto const came = room.subspan(held, bytes);
    // The default growth of a vector would reach two tiles.
    if (held + bytes > left_.capacity()) left_.reserve(std::min(std::max(held + bytes, 2 * held), tile_bytes));
    left_.insert(left_.end(), came.begin(), came.end());
    if (waits(left_)) {
      looked_at_ = left_.size();
      return {};
    }
  }
  std::size_t const looked_at = looked_at_;
  begin(room);
  looked_at_ = looked_at;
  tile_bytes_ = tile_bytes;
  Cut result = cut(room, held + bytes, ended);
  if (!result.ready) {
    left_.assign(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(result.bytes));
    next_offset_ = offset_;
    result = {};
  }
  // There may be many silent streams: none keeps the memory of a long record that has left.
  if (left_.capacity() > largest_spare && left_.size() < left_.capacity() / 16) left_.shrink_to_fit();
  return result;
}

/// True if the bytes held are not to be processed before more come.
bool StreamCutter::waits(std::span<std::byte const> bytes) const {
  if (skips_ != Skip::nothing || bytes.size() >= tile_bytes_) return false;
  if (framing_->delimiter_bytes() != 0) return whole_bytes(bytes) == 0;
  auto const length = framing_->record_bytes(bytes);
  if (length && *length > tile_bytes_) return long_records_ == LongRecords::truncate;
  return !length || *length > bytes.size();
}

void StreamCutter::break_off(std::size_t more) {
  // A record that is being skipped was already counted.
  bool const began = more != 0 || !left_.empty() || !full_.empty();
  if (skips_ == Skip::nothing ? began : uncounted_ != 0) ++loss_.unfinished;
  uncounted_ = 0;
  left_.clear();
  full_.clear();
}

void StreamCutter::restart(std::uint64_t head) {
  left_.clear();
  full_.clear();
  framing_ = first_framing_;
  passed_.reset();
  next_offset_ = offset_ = head;
  skips_ = Skip::nothing;
  uncounted_ = unfinished_bytes_ = 0;
}

StreamCutter::Cut StreamCutter::cut(std::span<std::byte> tile, std::size_t bytes, bool ended) {
  if (!full_.empty()) {
    if (auto const decided = decide_full(tile, bytes, ended)) return *decided;
  }
  if (skips_ != Skip::nothing) {
    bytes = skip(tile, bytes);
  }
  records_ = {.framing = framing_};
  if (skips_ != Skip::nothing) {
    if (ended && uncounted_ != 0) {
      ++loss_.unfinished;
      unfinished_bytes_ = std::exchange(uncounted_, 0) - to_skip_;
    }
    return {ended, ended ? 0 : bytes};
  }
  Walked walked = walk(tile.first(bytes));
  if (walked.damage && walked.bytes == 0) throw Error(*walked.damage);
  if (ended) return end(tile, std::move(walked), bytes);
  if (walked.bytes != 0) return give(tile, std::move(walked.framing), walked.bytes, bytes);
  looked_at_ = bytes;
  return cut_long(tile, bytes);
}

/// Walks over the whole records in front.
Walked StreamCutter::walk(std::span<std::byte const> bytes) {
  if (!leads_on(*framing_)) return {framing_, whole_bytes(bytes)};
  Walked walked = walk_records(framing_, bytes, bytes.size(), wants_places_ ? &records_.places : nullptr);
  if (wants_places_) records_.last = walked.framing;
  return walked;
}

/// Drops the rest of a record that was too long, and returns the number of bytes left.
std::size_t StreamCutter::skip(std::span<std::byte> tile, std::size_t bytes) {
  if (skips_ == Skip::bytes) {
    auto const gone = static_cast<std::size_t>(std::min<std::uint64_t>(to_skip_, bytes));
    to_skip_ -= gone;
    if (passed_) passed_->insert(passed_->end(), tile.begin(), tile.begin() + static_cast<std::ptrdiff_t>(gone));
    if (to_skip_ == 0) {
      skips_ = Skip::nothing;
      if (auto const record = std::exchange(passed_, std::nullopt)) go_behind(*record, gone);
    }
    return drop_front(tile, bytes, gone);
  }
  if (auto const end = framing_->record_bytes(tile.first(bytes))) {
    skips_ = Skip::nothing;
    return drop_front(tile, bytes, static_cast<std::size_t>(*end));
  }
  // The delimiter may have begun in these bytes.
  std::size_t const kept = std::min(bytes, framing_->delimiter_bytes() - 1);
  return drop_front(tile, bytes, bytes - kept);
}

/// Accounts for a whole record, of which `in_tile` bytes are in the tile. Damage may be noticed only at its end.
void StreamCutter::go_behind(std::span<std::byte const> record, std::size_t in_tile) {
  try {
    framing_->record_bytes(record);
    if (framing_->change(record) != Framing::Change::none) framing_ = framing_->behind(record);
  } catch (Error const&) {
    offset_ -= record.size() - in_tile;  // The damage is at its beginning.
    throw;
  }
}

std::size_t StreamCutter::drop_front(std::span<std::byte> tile, std::size_t bytes, std::size_t gone) {
  if (gone == 0) return bytes;
  std::memmove(tile.data(), tile.data() + gone, bytes - gone);
  offset_ += gone;
  looked_at_ = 0;
  return bytes - gone;
}

/// Calls whole_bytes of the framing without the bytes that were searched before.
std::size_t StreamCutter::whole_bytes(std::span<std::byte const> bytes) const {
  std::size_t const delimiter = framing_->delimiter_bytes();
  if (delimiter == 0 || looked_at_ < delimiter) return framing_->whole_bytes(bytes);
  std::size_t const from = looked_at_ - (delimiter - 1);
  std::size_t const whole = framing_->whole_bytes(bytes.subspan(from));
  return whole == 0 ? 0 : from + whole;
}

StreamCutter::Cut StreamCutter::give(std::span<std::byte> tile, FramingRef behind, std::size_t whole,
                                     std::size_t bytes) {
  left_.assign(tile.begin() + static_cast<std::ptrdiff_t>(whole), tile.begin() + static_cast<std::ptrdiff_t>(bytes));
  next_offset_ = offset_ + whole;
  looked_at_ = 0;
  records_.framing = std::exchange(framing_, std::move(behind));
  return {true, whole};
}

StreamCutter::Cut StreamCutter::end(std::span<std::byte> tile, Walked walked, std::size_t bytes) {
  bool const may_lack_delimiter = framing_->delimiter_bytes() != 0 && !last_needs_delimiter_;
  std::size_t const whole = may_lack_delimiter ? bytes : walked.bytes;
  // The rest begins the next tile: nothing, or damaged bytes, or another part.
  if (whole == bytes || walked.damage || walked.part) return give(tile, std::move(walked.framing), whole, bytes);
  ++loss_.unfinished;
  unfinished_bytes_ = bytes - whole;
  return give(tile, std::move(walked.framing), whole, whole);
}

/// Decides on the record that filled a tile: it is the last one, and whole, if the stream ends behind it; else it is
/// too long. Returns nothing if it was left out; the tile then has the bytes behind it.
std::optional<StreamCutter::Cut> StreamCutter::decide_full(std::span<std::byte> tile, std::size_t bytes, bool ended) {
  std::size_t const kept = framing_->delimiter_bytes() - 1;
  if (bytes == kept && !ended) return Cut{false, bytes};
  auto const record = std::exchange(full_, {});
  if (bytes == kept) {
    std::ranges::copy(record, tile.begin());
    return give(tile, framing_, record.size(), record.size());
  }
  skips_ = Skip::to_delimiter;
  if (long_records_ == LongRecords::refuse) {
    ++loss_.refused;
    offset_ += record.size() - kept;
    return std::nullopt;
  }
  ++loss_.truncated;
  left_.assign(tile.begin(), tile.begin() + static_cast<std::ptrdiff_t>(bytes));
  std::ranges::copy(record, tile.begin());
  next_offset_ = offset_ + record.size() - kept;
  records_ = {.framing = framing_};
  return Cut{true, record.size()};
}

/// The tile begins with a record that has not ended: checks whether it is too long.
StreamCutter::Cut StreamCutter::cut_long(std::span<std::byte> tile, std::size_t bytes) {
  bool const full = bytes >= tile_bytes_;
  std::uint64_t length = 0;  // 0: not known.
  if (bytes != 0) length = framing_->record_bytes(tile.first(bytes)).value_or(0);
  bool const too_long = full || length > tile_bytes_;
  bool const truncates = long_records_ == LongRecords::truncate;
  if (!too_long || (truncates && !full)) return {false, bytes};
  std::size_t const delimiter = framing_->delimiter_bytes();
  if (length == 0 && delimiter == 0) {
    throw Error(ErrorKind::bad_argument,
                "The record at byte " + std::to_string(offset_) + " has more than the " + size_text(tile_bytes_) +
                    " of a tile, and its framing cannot tell where it ends: make tiles larger.");
  }
  if (length == 0 && !last_needs_delimiter_) {
    // It is the last record if nothing follows, and may then lack its delimiter.
    full_.assign(tile.begin(), tile.begin() + static_cast<std::ptrdiff_t>(bytes));
    std::copy(full_.end() - static_cast<std::ptrdiff_t>(delimiter - 1), full_.end(), tile.begin());
    looked_at_ = 0;
    return {false, delimiter - 1};
  }
  bool const missed = length == 0 || framing_->is_missed(tile.first(bytes));
  if (length != 0 && (!missed || framing_->change(tile.first(bytes)) != Framing::Change::none)) passed_.emplace();
  skips_ = length != 0 ? Skip::bytes : Skip::to_delimiter;
  if (truncates) {
    ++loss_.truncated;
    uncounted_ = 0;
    to_skip_ = length - std::min<std::uint64_t>(length, tile_bytes_);
    // The delimiter may have begun in this tile.
    if (passed_) passed_->assign(tile.begin(), tile.begin() + static_cast<std::ptrdiff_t>(bytes));
    give(tile, framing_, bytes - (length != 0 ? 0 : delimiter - 1), bytes);
    records_.last = nullptr;
    return {true, bytes};
  }
  if (missed) ++loss_.refused;
  uncounted_ = missed ? 0 : length;
  to_skip_ = length;
  return {false, skip(tile, bytes)};
}

}  // namespace penstock
