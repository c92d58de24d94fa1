// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "ingest/file/delimited_pieces.hpp"
#include "ingest/file/equal_pieces.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {

/// The user's options, as in FileSourceOptions.
struct CutOptions {
  std::size_t tile_bytes = 0;
  LongRecords long_records = LongRecords::refuse;
  std::size_t overlap = 0;
  bool ends_by_cr = false;  ///< Records end with "\r", and tiles have a "\n" instead.
};

/// The division of one input into tiles of whole records.
///
/// Threads: any.
class InputCut {
 public:
  /// Throws: as EqualPieces and DelimitedPieces.
  InputCut(Framing::OfInput of, CutOptions const& options);

  FramingRef const& framing() const noexcept { return of_.framing; }
  /// Bytes in front of the first record.
  std::size_t head() const noexcept { return of_.head; }
  /// Pieces of a regular file, if its records are all of one size.
  std::optional<EqualPieces> const& equal() const noexcept { return equal_; }
  /// Pieces of a regular file, if its records end with a delimiter.
  std::optional<DelimitedPieces> const& delimited() const noexcept { return delimited_; }
  /// True if ChainedPieces cuts it.
  bool chained() const noexcept { return !equal_ && !delimited_ && of_.framing->finds_records(); }
  /// True if its lines end with "\r", and tiles are to have a "\n" instead.
  bool ends_by_cr() const noexcept { return ends_by_cr_; }

 private:
  Framing::OfInput const of_;
  bool const ends_by_cr_;
  std::optional<EqualPieces> equal_;
  std::optional<DelimitedPieces> delimited_;
};

}  // namespace penstock
