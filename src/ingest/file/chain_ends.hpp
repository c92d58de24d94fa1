// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/file/chained_pieces.hpp"
#include "ingest/file/file_piece.hpp"
#include "ingest/file/observed.hpp"
#include "ingest/file/open_file.hpp"

namespace penstock {

/// A file that ChainedPieces cuts.
struct ChainedFile {
  std::shared_ptr<OpenFile> file = {};
  std::shared_ptr<ChainedPieces> pieces = {};
  std::shared_ptr<InputCut> cut = {};
  std::shared_ptr<std::string const> name = {};
  std::uint64_t number = 0;  ///< Number of the file.
  std::uint64_t given = 0;   ///< Number of pieces given out.

  /// Makes the description of the file's next tile.
  FilePiece give();
  /// True if all pieces that can be counted were given out.
  bool gave_all() const { return given >= pieces->count(); }
};

/// Files whose countable pieces were all given out. Further pieces, or damage, are known once these have been read.
///
/// Threads: one at a time; others may read pieces.
/// Throws:  what the observer throws.
class ChainEnds {
 public:
  /// `observed` must outlive this.
  explicit ChainEnds(Observed& observed) : observed_(observed) {}

  void add(ChainedFile file);
  bool empty() const noexcept { return files_.empty(); }
  /// Returns a piece for a tile of a file that has more, or that is damaged; nothing if there is none yet. The observer
  /// is notified of files that have ended.
  std::optional<FilePiece> next();
  /// Blocks: until `next` has a file to examine. At least one file must be left.
  void wait() const;
  /// Stops reading all files, because a stop was requested.
  void abandon();

 private:
  Observed& observed_;
  std::vector<ChainedFile> files_;
};

}  // namespace penstock
