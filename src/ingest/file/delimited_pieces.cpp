// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/delimited_pieces.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

using Probe = std::array<std::byte, DelimitedPieces::probe_bytes>;

/// Size of the first read: a few lines of a typical text.
constexpr std::size_t first_probe_bytes = 1024;

std::size_t overlap_for(Framing const& framing, std::size_t tile_bytes) {
  std::size_t const delimiter = framing.delimiter_bytes();
  std::size_t const most = std::min(tile_bytes, DelimitedPieces::probe_bytes / 2);
  if (delimiter <= most) return delimiter - 1;
  throw Error(ErrorKind::bad_argument, "A delimiter of " + std::to_string(delimiter) +
                                           " bytes is too long: with tiles of " + size_text(tile_bytes) +
                                           " it can have " + std::to_string(most) + ".");
}

}  // namespace

bool DelimitedPieces::suit(Framing const& framing) noexcept {
  return framing.delimiter_bytes() != 0 && framing.equal_bytes() == 0 && !framing.finds_records();
}

DelimitedPieces::DelimitedPieces(FramingRef framing, std::size_t tile_bytes, LongRecords long_records)
    : framing_(std::move(framing)),
      tile_bytes_(tile_bytes),
      long_records_(long_records),
      overlap_(overlap_for(*framing_, tile_bytes)) {}

DelimitedPieces::Piece DelimitedPieces::next(Read const& read, Place from, std::uint64_t size) const {
  std::uint64_t at = from.offset;
  Place const behind_all{size, false};
  if (from.within_long) {
    std::uint64_t const end = std::min<std::uint64_t>(size, at + std::max(tile_bytes_, std::size_t{16} * probe_bytes));
    auto const found = first_end(read, at, end);
    if (!found.end) return {at, 0, {}, found.cut || end == size ? behind_all : Place{end - overlap_, true}};
    at = *found.end;
  }
  if (size - at <= tile_bytes_) return {at, static_cast<std::size_t>(size - at), {}, behind_all};
  auto const found = last_end(read, at, at + tile_bytes_);
  // The file has no more than a tile, whatever its size says.
  if (found.cut) return {at, tile_bytes_, {}, behind_all};
  if (found.end) return {at, static_cast<std::size_t>(*found.end - at), {}, {*found.end, false}};
  Place const rest{at + tile_bytes_ - overlap_, true};
  if (long_records_ == LongRecords::truncate) return {at, tile_bytes_, {.truncated = 1}, rest};
  return {at, 0, {.refused = 1}, rest};
}

/// Searches from the end towards the beginning.
DelimitedPieces::Found DelimitedPieces::last_end(Read const& read, std::uint64_t begin, std::uint64_t end) const {
  Probe probe;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::size_t most = std::max(first_probe_bytes, 2 * overlap_);; most = probe_bytes) {
    auto const bytes = static_cast<std::size_t>(std::min<std::uint64_t>(most, end - begin));
    auto const part = std::span(probe).first(bytes);
    if (read(end - bytes, part) < bytes) return {{}, true};
    if (std::size_t const whole = framing_->whole_bytes(part); whole != 0) return {end - bytes + whole};
    if (end - bytes == begin) return {};
    end = end - bytes + overlap_;
  }
}

/// Searches from the beginning towards the end.
DelimitedPieces::Found DelimitedPieces::first_end(Read const& read, std::uint64_t begin, std::uint64_t end) const {
  Probe probe;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (;;) {
    auto const bytes = static_cast<std::size_t>(std::min<std::uint64_t>(probe.size(), end - begin));
    auto const part = std::span(probe).first(bytes);
    if (read(begin, part) < bytes) return {{}, true};
    if (auto const length = framing_->record_bytes(part); length && *length <= bytes) return {begin + *length};
    if (begin + bytes == end) return {};
    begin += bytes - overlap_;
  }
}

}  // namespace penstock
