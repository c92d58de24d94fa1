// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/file/chained_pieces.hpp"
#include "penstock/file/file_piece.hpp"
#include "penstock/file/observed.hpp"
#include "penstock/file/open_file.hpp"

namespace penstock {

/// A file that is cut by ChainedPieces.
struct ChainedFile {
  std::shared_ptr<OpenFile> file = {};
  std::shared_ptr<ChainedPieces> pieces = {};
  std::shared_ptr<InputCut> cut = {};
  std::shared_ptr<std::string const> name = {};
  std::uint64_t number = 0;  ///< Of the file.
  std::uint64_t given = 0;   ///< Pieces.

  /// For the next tile of the file.
  FilePiece give();
  /// All pieces that can be counted were given.
  bool gave_all() const { return given >= pieces->count(); }
};

/// Files of which all pieces were given that can be counted. Whether there are more, or damage, shows once these have
/// been read.
///
/// Threads: one at a time; others may read pieces.
/// Throws:  what the observer throws.
class ChainEnds {
 public:
  /// `observed` outlives this.
  explicit ChainEnds(Observed& observed) : observed_(observed) {}

  void add(ChainedFile file);
  bool empty() const noexcept { return files_.empty(); }
  /// For a tile of a file that goes on, or that is damaged; nothing, if there is none by now. Those that have ended are
  /// told to the observer.
  std::optional<FilePiece> next();
  /// Blocks: until `next` has what to look at. Some file is left.
  void wait() const;
  /// No file is read further; a stop was requested.
  void abandon();

 private:
  Observed& observed_;
  std::vector<ChainedFile> files_;
};

}  // namespace penstock
