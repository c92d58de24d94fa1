// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/framed_pieces.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "penstock/core/number_text.hpp"

namespace penstock {
namespace {

/// Most records end within so many bytes in front of a tile's end.
constexpr std::size_t first_look = 1024;
/// What is read at a time of a record that does not fit.
constexpr std::size_t long_look = std::size_t{64} << 10;

}  // namespace

bool FramedPieces::suit(Framing const& framing) noexcept {
  return framing.delimiter_bytes() != 0 || framing.equal_bytes() != 0;
}

FramedPieces::FramedPieces(FramingRef framing, std::size_t tile_bytes, LongRecords long_records, std::size_t overlap)
    : framing_(std::move(framing)), tile_bytes_(tile_bytes), long_records_(long_records), overlap_(overlap) {
  std::size_t const least = std::max(framing_->equal_bytes(), framing_->delimiter_bytes());
  if (least > tile_bytes - overlap) {
    throw Error(ErrorKind::bad_argument,
                "A tile of " + size_text(tile_bytes - overlap) + " has no room for " +
                    (framing_->equal_bytes() != 0 ? "a record" : "the delimiter") + " of " + std::to_string(least) +
                    " bytes: make tiles larger.");
  }
}

FramedPieces::Piece FramedPieces::piece(Read const& read, std::uint64_t begin, std::uint64_t size,
                                        std::stop_token const& stop) const {
  if (framing_->equal_bytes() != 0) return equal_piece(begin, size);
  RecordLoss loss;
  while (!stop.stop_requested()) {
    // The last record of a file may lack its delimiter.
    if (size - begin <= tile_bytes_) return {begin, static_cast<std::size_t>(size - begin), size, loss};
    if (std::size_t const whole = whole_bytes(read, begin); whole != 0) return {begin, whole, begin + whole, loss};
    std::uint64_t const end = end_of_long(read, begin, size, stop);
    if (long_records_ == LongRecords::truncate) {
      ++loss.truncated;
      return {begin, tile_bytes_, end, loss};
    }
    ++loss.refused;
    begin = end;
    if (begin == size) break;
  }
  return {begin, 0, size, loss};
}

FramedPieces::Piece FramedPieces::equal_piece(std::uint64_t begin, std::uint64_t size) const {
  std::size_t const one = framing_->equal_bytes(), all = tile_bytes_ / one * one;
  if (size - begin > all) return {begin, all, begin + all - overlap_};
  auto const rest = static_cast<std::size_t>(size - begin);
  Piece last{begin, rest / one * one, size};
  last.unfinished_bytes = rest % one;
  last.loss.unfinished = last.unfinished_bytes == 0 ? 0 : 1;
  return last;
}

/// How many bytes of a tile that begins there are whole records: found from its end backwards.
std::size_t FramedPieces::whole_bytes(Read const& read, std::uint64_t begin) const {
  for (std::size_t look = std::min(tile_bytes_, first_look);; look = std::min(tile_bytes_, 4 * look)) {
    auto const room = std::make_unique_for_overwrite<std::byte[]>(look);
    std::size_t const from = tile_bytes_ - look;
    std::size_t const got = read(begin + from, {room.get(), look});
    // It holds less than its size says, as files of the system may: this is its end.
    if (got < look) return tile_bytes_;
    if (std::size_t const whole = framing_->whole_bytes({room.get(), got}); whole != 0) return from + whole;
    if (from == 0) return 0;
  }
}

/// Where the record ends that begins there and does not fit into a tile; the end of the file, if it lacks its
/// delimiter.
std::uint64_t FramedPieces::end_of_long(Read const& read, std::uint64_t begin, std::uint64_t size,
                                        std::stop_token const& stop) const {
  std::size_t const delimiter = framing_->delimiter_bytes();
  auto const room = std::make_unique_for_overwrite<std::byte[]>(long_look);
  // The delimiter may have begun in the tile.
  for (std::uint64_t from = begin + tile_bytes_ - (delimiter - 1); from < size && !stop.stop_requested();) {
    std::size_t const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(long_look, size - from));
    std::size_t const got = read(from, {room.get(), wanted});
    if (auto const found = framing_->record_bytes({room.get(), got})) return from + *found;
    if (got < wanted || from + got == size) break;
    from += got - (delimiter - 1);
  }
  return size;
}

}  // namespace penstock
