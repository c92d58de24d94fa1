// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/framed_pieces.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "penstock/core/number_text.hpp"

namespace penstock {
namespace {

std::size_t step_for(Framing const& framing, std::size_t tile_bytes, std::size_t longest, std::size_t overlap) {
  if (std::size_t const one = framing.equal_bytes(); one != 0) {
    if (one > tile_bytes - overlap) {
      throw Error(ErrorKind::bad_argument, "A tile of " + size_text(tile_bytes - overlap) +
                                               " has no room for a record of " + std::to_string(one) +
                                               " bytes: make tiles larger.");
    }
    return tile_bytes / one * one - overlap;
  }
  if (longest > tile_bytes / 2) {
    throw Error(ErrorKind::bad_argument, "Records of up to " + std::to_string(longest) +
                                             " bytes are to fit into a tile wherever they begin; with tiles of " +
                                             size_text(tile_bytes) + " that can be up to " +
                                             std::to_string(tile_bytes / 2) + ": choose so, or make tiles larger.");
  }
  return tile_bytes - longest;
}

}  // namespace

bool FramedPieces::suit(Framing const& framing) noexcept {
  return framing.equal_bytes() != 0 || framing.finds_records();
}

FramedPieces::FramedPieces(FramingRef framing, std::size_t tile_bytes, std::size_t longest, LongRecords long_records,
                           std::size_t overlap, std::size_t head)
    : framing_(std::move(framing)),
      overlap_(overlap),
      step_(step_for(*framing_, tile_bytes, longest, overlap)),
      long_records_(long_records),
      head_(head) {}

FramedPieces::Piece FramedPieces::read(Read const& read, std::uint64_t begin, std::uint64_t size,
                                       std::span<std::byte> tile) const {
  std::uint64_t const end = std::min<std::uint64_t>(size, begin + step_ + overlap_);
  if (framing_->equal_bytes() != 0) return read_equal(read, begin, end, tile);
  return read_found(read, begin, size, tile);
}

FramedPieces::Piece FramedPieces::read_equal(Read const& read, std::uint64_t begin, std::uint64_t end,
                                             std::span<std::byte> tile) const {
  std::size_t const whole = framing_->whole_bytes(tile.first(static_cast<std::size_t>(end - begin)));
  Piece piece{begin};
  piece.bytes = read(begin, tile.first(whole));
  piece.unfinished_bytes = end - (begin + whole);
  piece.loss.unfinished = piece.unfinished_bytes == 0 ? 0 : 1;
  return piece;
}

/// Reads from the beginning of the piece on until it can be told where the first record begins. That is then at the
/// front of the tile, which has `bytes`. Nothing, if none begins in the tile's bytes.
std::optional<std::size_t> FramedPieces::find_first(Read const& read, std::uint64_t begin, std::uint64_t size,
                                                    std::span<std::byte> tile, std::size_t& bytes) const {
  auto const all = static_cast<std::size_t>(std::min<std::uint64_t>(tile.size(), size - begin));
  if (begin == head_) {
    bytes = 0;
    return 0;
  }
  // Most are found by a few records; what is read to find them is moved.
  for (std::size_t wanted = std::min(all, std::size_t{16} * probe_bytes);; wanted = std::min(all, 4 * wanted)) {
    bytes = read(begin, tile.first(wanted));
    if (auto const found = framing_->find_record(tile.first(bytes), begin + bytes == size)) {
      bytes -= *found;
      std::memmove(tile.data(), tile.data() + *found, bytes);
      return found;
    }
    if (wanted == all || bytes < wanted) return std::nullopt;
  }
}

FramedPieces::Piece FramedPieces::read_found(Read const& read, std::uint64_t begin, std::uint64_t size,
                                             std::span<std::byte> tile) const {
  std::uint64_t const end = std::min<std::uint64_t>(size, begin + step_);
  std::size_t got = 0;
  auto const first = find_first(read, begin, size, tile, got);
  Piece piece{first ? std::min(end, begin + *first) : end};
  if (first) piece.first = piece.next = begin + *first;
  if (piece.offset == end) return piece;
  auto const all = static_cast<std::size_t>(std::min<std::uint64_t>(tile.size(), size - piece.offset));
  if (got < all) got += read(piece.offset + got, tile.first(all).subspan(got));
  auto const length_of = [&](std::span<std::byte const> bytes) {
    try {
      return framing_->record_bytes(bytes);
    } catch (Error const& error) {
      throw Error(error.kind(), std::string(error.what()) + " That is at byte " + std::to_string(*piece.next) +
                                    ". Records from byte " + std::to_string(piece.offset) + " up to byte " +
                                    std::to_string(end) + " are left out, and all others come; `head -c " +
                                    std::to_string(*piece.next) + " FILE` has all that is in front of it.");
    }
  };
  while (*piece.next < end) {
    auto const rest = tile.first(got).subspan(piece.bytes);
    auto length = length_of(rest);
    if (!length) {
      // Its length is behind the tile.
      std::array<std::byte, probe_bytes> probe;  // NOLINT(cppcoreguidelines-pro-type-member-init)
      auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(probe.size(), size - *piece.next));
      length = length_of(std::span(probe).first(read(*piece.next, std::span(probe).first(wanted))));
    }
    std::uint64_t const begins = *piece.next;
    piece.next = length ? begins + *length : size;
    if (!length || *length > rest.size()) {
      // It goes on behind the tile, or behind the file.
      bool const unfinished = *piece.next > size || !length;
      (unfinished ? piece.loss.unfinished : piece.loss.refused) = 1;
      if (unfinished) piece.unfinished_bytes = size - begins;
      break;
    }
    piece.bytes += static_cast<std::size_t>(*length);
  }
  return piece;
}

}  // namespace penstock
