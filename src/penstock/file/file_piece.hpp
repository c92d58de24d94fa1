// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/file/chained_pieces.hpp"
#include "penstock/file/file_reader.hpp"
#include "penstock/file/input_cut.hpp"
#include "penstock/file/open_file.hpp"
#include "penstock/files.hpp"

namespace penstock {

struct DecodedFile;

/// What is known of a tile between `next` and `fill` of a FileSource.
struct FilePiece {
  FileSource::Place place = {};
  std::shared_ptr<OpenFile> file = {};      ///< Null if `next` has filled the tile already.
  std::optional<FileProblem> problem = {};  ///< What `fill` is to throw.
  std::shared_ptr<std::string const> name = {};
  std::shared_ptr<InputCut> cut = {};  ///< With a framing.
  std::size_t bytes = 0;
  TileRecords records = {};                   ///< With a framing.
  std::shared_ptr<ChainedPieces> chain = {};  ///< Finds where the piece is.
  std::uint64_t number = 0;                   ///< Of such a piece in its file.
  std::shared_ptr<DecodedFile> decoded = {};  ///< What the tile is to have comes next of it.
  std::uint64_t unfinished_bytes = 0;         ///< Of a record within which the file ends behind the tile.
};

/// Fills tiles with pieces of files.
///
/// Threads: any.
class PieceReader {
 public:
  explicit PieceReader(FileReaders& readers) : readers_(readers) {}

  /// Says how many bytes the tile has. The piece knows where it began then.
  ///
  /// Throws: FileProblem that begins with the file's name.
  std::size_t fill(FilePiece& piece, Tile& tile);
  /// The file ends within a record, which has so many bytes; 0: it does not. `fill` notes it of its pieces.
  void note_end(std::string const& name, std::uint64_t unfinished_bytes);
  /// Records of a file were left out between two pieces of it.
  void note_loss(RecordLoss const& loss);
  /// Of all pieces so far.
  RecordLoss loss() const;
  /// Which files ended within a record, and which grew while they were read; a sentence each.
  std::vector<std::string> remarks() const;

 private:
  std::size_t read(OpenFile& file, FilePiece& piece, std::span<std::byte> tile);
  std::size_t leave_begun(OpenFile& file, FilePiece const& piece, std::span<std::byte const> records) const;
  void expect_readable(OpenFile const& file, FilePiece const& piece);
  std::size_t read_chained(OpenFile& file, FilePiece& piece, std::span<std::byte> tile);

  FileReaders& readers_;
  mutable std::mutex mutex_;
  RecordLoss loss_;
  std::string first_end_;         ///< Of the first file that ended within a record.
  std::uint64_t other_ends_ = 0;  ///< Of others.
  std::string first_grown_;       ///< The first file that grew.
  std::uint64_t others_grown_ = 0;
};

}  // namespace penstock
