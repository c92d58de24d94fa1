// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "penstock/file/chain_ends.hpp"
#include "penstock/file/file_piece.hpp"
#include "penstock/file/input_cut.hpp"
#include "penstock/file/open_file.hpp"
#include "penstock/files.hpp"

namespace penstock {

/// The pieces of one regular file, which all producers read at once.
///
/// Threads: one at a time.
class FilePieces {
 public:
  /// True if a file can be read so that is cut in this way; null: without a framing.
  static bool suit(InputCut const* cut) noexcept;

  /// `options` outlive this. `places`: it is to be known where the records of a tile begin.
  FilePieces(ChainedFile file, FileSourceOptions const& options, std::size_t tile_bytes, bool places);

  struct Next {
    FilePiece piece = {};
    RecordLoss loss = {};
    bool last = false;  ///< Of those that can be counted.
  };
  /// Throws: FileProblem, without the file's name, and as Framing::record_bytes.
  Next next();
  /// Where the next piece begins, or is looked for.
  std::uint64_t offset() const noexcept { return place_.offset; }
  /// If pieces are found when they are read: the file, of which all were given that can be counted.
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
  DelimitedPieces::Place place_;  ///< Of the next piece.
};

}  // namespace penstock
