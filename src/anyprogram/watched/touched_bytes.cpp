// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/touched_bytes.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace penstock::cli {
namespace {

/// Maximum number of calls that are kept, which may all be unordered; the oldest are forgotten first.
constexpr std::size_t most_touches = 64;
constexpr std::size_t most_pieces = std::size_t{1} << 19;

std::uint64_t end_of(std::uint64_t begin, std::uint64_t bytes) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  return bytes > last - begin ? last : begin + bytes;
}

}  // namespace

void TouchedBytes::cut(std::uint64_t at) {
  auto const next = pieces_.upper_bound(at);
  if (next == pieces_.begin()) return;
  auto const piece = std::prev(next);
  if (piece->first == at || piece->second.end <= at) return;
  pieces_.emplace_hint(next, at, piece->second);
  piece->second.end = at;
}

void TouchedBytes::touch(std::uint64_t begin, std::uint64_t bytes, Touch const& touch,
                         std::function<void(Touch const&, std::uint64_t, std::uint64_t)> const& show,
                         std::function<bool(Touch const&)> const& over) {
  std::uint64_t const end = end_of(begin, bytes);
  if (begin == end) return;
  if (pieces_.size() > most_pieces) pieces_.clear();
  cut(begin);
  cut(end);
  std::uint64_t at = begin;
  for (auto piece = pieces_.lower_bound(begin); at < end; at = piece->second.end, ++piece) {
    if (piece == pieces_.end() || piece->first > at)
      piece = pieces_.emplace_hint(piece, at, Piece{piece == pieces_.end() ? end : std::min(end, piece->first), {}});
    std::vector<Touch>& touches = piece->second.touches;
    for (Touch const& earlier : touches)
      if (earlier.call != touch.call && (earlier.writes || touch.writes)) show(earlier, at, piece->second.end);
    // A read comes after a write, but a later write must come after both.
    std::erase_if(touches, [&](Touch const& earlier) {
      return earlier.call != touch.call && (touch.writes || !earlier.writes) && over(earlier);
    });
    if (touches.size() >= most_touches) touches.erase(touches.begin());
    touches.push_back(touch);
  }
}

void TouchedBytes::forget(std::uint64_t begin, std::uint64_t bytes) {
  std::uint64_t const end = end_of(begin, bytes);
  cut(begin);
  cut(end);
  pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
}

}  // namespace penstock::cli
