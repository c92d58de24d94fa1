// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/equal_pieces.hpp"

#include <algorithm>
#include <string>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {

EqualPieces::EqualPieces(Framing const& framing, std::size_t tile_bytes, std::size_t overlap)
    // The caller has asked whether all records have one size, so it is not 0.
    : record_(std::max<std::size_t>(1, framing.equal_bytes())),
      most_(tile_bytes / record_ * record_),
      overlap_(overlap) {
  if (record_ <= tile_bytes - overlap) return;
  throw Error(ErrorKind::bad_argument, "A tile of " + size_text(tile_bytes - overlap) +
                                           " has no room for a record of " + std::to_string(record_) +
                                           " bytes: make tiles larger.");
}

EqualPieces::Piece EqualPieces::piece(std::uint64_t begin, std::uint64_t size) const noexcept {
  std::uint64_t const rest = size - begin;
  if (rest > most_) return {most_, begin + most_ - overlap_};
  return {static_cast<std::size_t>(rest / record_ * record_), size, rest % record_};
}

}  // namespace penstock
