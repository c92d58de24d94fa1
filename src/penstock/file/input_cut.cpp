// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/input_cut.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "penstock/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// To the byte, since a user is to ask for as much.
std::string exactly(std::size_t bytes) {
  return bytes < 1024 ? size_text(bytes) : size_option(static_cast<double>(bytes));
}

}  // namespace

InputCut::InputCut(Framing::OfInput of, CutOptions const& options)
    : of_(std::move(of)), ends_by_cr_(options.ends_by_cr) {
  if (DelimitedPieces::suit(*of_.framing)) {
    if (options.longest_record > options.tile_bytes) {
      throw Error(ErrorKind::bad_argument, "Records of up to " + exactly(options.longest_record) +
                                               " are to fit into a tile of " + exactly(options.tile_bytes) +
                                               ": make tiles larger.");
    }
    delimited_.emplace(of_.framing, options.tile_bytes, options.long_records);
  }
  if (!FramedPieces::suit(*of_.framing)) return;
  std::size_t const longest = options.longest_record == 0 ? options.tile_bytes / 16 : options.longest_record;
  // Where a record begins by its looks is seen by several of them.
  std::size_t const least = of_.framing->finds_records() ? FramedPieces::probe_bytes : 0;
  if (options.longest_record == 0 && options.tile_bytes < least) {
    throw Error(ErrorKind::bad_argument, "Tiles of " + exactly(options.tile_bytes) +
                                             " are too small for records: make them at least " + exactly(least) +
                                             ", and 16 times as large as most records.");
  }
  pieces_.emplace(of_.framing, options.tile_bytes, longest, options.long_records, options.overlap, of_.head);
}

void InputCut::expect_pieces(std::uint64_t count) {
  // Only where a record begins by its looks can two pieces see it differently.
  if (of_.framing->finds_records()) borders_ = std::vector<std::atomic<std::uint64_t>>(count + 1);
}

void InputCut::note(std::uint64_t number, FramedPieces::Piece const& piece) {
  if (borders_.empty()) return;
  if (number != 0) meet(number, piece.first ? *piece.first : piece.offset | none_before);
  // A long record may end behind several borders.
  for (std::uint64_t border = number + 1; piece.next && border < borders_.size(); ++border) {
    if (of_.head + border * pieces_->step() > *piece.next) break;
    meet(border, *piece.next);
  }
}

void InputCut::meet(std::uint64_t border, std::uint64_t offset) {
  std::uint64_t const other = borders_[border].exchange(offset, std::memory_order_relaxed);
  if (other == 0) return;
  std::uint64_t const one = offset & ~none_before, two = other & ~none_before;
  bool const exact = ((offset | other) & none_before) == 0;
  if (exact ? one == two : (offset & none_before) != 0 ? two >= one : one >= two) return;
  throw Error(
      ErrorKind::bad_argument,
      "It cannot be told where its records begin at byte " + std::to_string(std::min(one, two)) +
          ", and a part of it is left out: it is damaged near there, or bytes within records look like records. "
          "Make tiles larger, or read it through a pipe, `cat FILE |`: records are then found one after the "
          "other, and it is said where the input is damaged.");
}

}  // namespace penstock
