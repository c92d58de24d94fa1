// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ingest/file/chain_ends.hpp"
#include "ingest/file/file_piece.hpp"
#include "ingest/file/input_cut.hpp"
#include "ingest/file/open_file.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

/// The pieces of one regular file, which all producers read at once.
///
/// Threads: one at a time.
class FilePieces {
 public:
  /// True if a file with this cut can be read in pieces; null: without a framing.
  static bool suit(InputCut const* cut) noexcept;

  /// `options` must outlive this. `places`: the places of the records of a tile are wanted. `range`: only these bytes.
  ///
  /// Throws: FileProblem, without the file's name, if it has no such range.
  FilePieces(ChainedFile file, FileSourceOptions const& options, std::size_t tile_bytes, bool places,
             std::optional<FileRange> const& range);

  struct Next {
    FilePiece piece = {};
    RecordLoss loss = {};
    bool last = false;  ///< The last of the pieces that can be counted.
  };
  /// Throws: FileProblem, without the file's name, and as Framing::record_bytes.
  Next next();
  /// Beginning of the next piece, or of the search for it.
  std::uint64_t offset() const noexcept { return place_.offset; }
  /// The file, if its pieces are found when they are read, and all that can be counted were given out.
  std::optional<ChainedFile> chained() const;

 private:
  Next delimited();
  Next equal();
  Next bytes();
  Next at(std::uint64_t offset, std::size_t bytes) const;

  ChainedFile file_;
  std::uint64_t const size_;
  std::size_t const tile_bytes_;
  std::size_t const overlap_;
  DelimitedPieces::Place place_;  ///< Place of the next piece.
};

}  // namespace penstock
