// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/file/delimited_pieces.hpp"
#include "penstock/file/framed_pieces.hpp"
#include "penstock/framing.hpp"

namespace penstock {

/// What the user says of it; as FileSourceOptions.
struct CutOptions {
  std::size_t tile_bytes = 0;
  std::size_t longest_record = 0;
  LongRecords long_records = LongRecords::refuse;
  std::size_t overlap = 0;
  bool ends_by_cr = false;  ///< Records end by "\r", and tiles have a "\n" instead.
};

/// How one input is cut into tiles of whole records.
///
/// Threads: any, but for the constructor and `expect_pieces`.
class InputCut {
 public:
  /// Throws: as FramedPieces and DelimitedPieces.
  InputCut(Framing::OfInput of, CutOptions const& options);

  FramingRef const& framing() const noexcept { return of_.framing; }
  /// Bytes in front of the first record.
  std::size_t head() const noexcept { return of_.head; }
  /// How a regular file is read by pieces that are found each by itself, if it can be.
  std::optional<FramedPieces> const& pieces() const noexcept { return pieces_; }
  /// How it is read by pieces that are found one behind the other, if it can be.
  std::optional<DelimitedPieces> const& delimited() const noexcept { return delimited_; }
  bool by_pieces() const noexcept { return pieces_ || delimited_; }
  /// Its lines end by "\r", and tiles are to have a "\n" instead.
  bool ends_by_cr() const noexcept { return ends_by_cr_; }
  /// The file has so many pieces. Without a call it is not looked whether they fit together.
  void expect_pieces(std::uint64_t count);
  /// This piece of the file, counted from 0, was read: its first record must begin where the piece before it ends.
  ///
  /// Throws: Error of kind bad_argument, if it does not, or the same holds for the piece behind it.
  void note(std::uint64_t number, FramedPieces::Piece const& piece);

 private:
  void meet(std::uint64_t border, std::uint64_t offset);

  Framing::OfInput const of_;
  bool const ends_by_cr_;
  std::optional<FramedPieces> pieces_;
  std::optional<DelimitedPieces> delimited_;
  /// In a border: no record begins in front of this byte.
  static constexpr std::uint64_t none_before = std::uint64_t{1} << 63U;

  /// Where the first record behind each border of two pieces begins, by the one that was read last; 0: by neither yet.
  std::vector<std::atomic<std::uint64_t>> borders_;
};

}  // namespace penstock
