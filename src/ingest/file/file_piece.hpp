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

#include "ingest/file/chained_pieces.hpp"
#include "ingest/file/file_reader.hpp"
#include "ingest/file/input_cut.hpp"
#include "ingest/file/open_file.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

struct DecodedFile;

/// State of a tile between `next` and `fill` of a FileSource.
struct FilePiece {
  FileSource::Place place = {};
  std::shared_ptr<OpenFile> file = {};      ///< Null if `next` has filled the tile already.
  std::optional<FileProblem> problem = {};  ///< Problem that `fill` throws.
  std::shared_ptr<std::string const> name = {};
  std::shared_ptr<InputCut> cut = {};  ///< Set with a framing.
  std::size_t bytes = 0;
  TileRecords records = {};                   ///< Set with a framing.
  std::shared_ptr<ChainedPieces> chain = {};  ///< Determines the place of the piece.
  std::uint64_t number = 0;                   ///< Number of the piece in its chain.
  std::shared_ptr<DecodedFile> decoded = {};  ///< The file whose next data the tile gets.
  std::uint64_t unfinished_bytes = 0;         ///< Size of the incomplete record with which the file ends behind the
                                              /// tile.
};

/// Fills tiles with pieces of files.
///
/// Threads: any.
class PieceReader {
 public:
  explicit PieceReader(FileReaders& readers) : readers_(readers) {}

  /// Returns the number of bytes in the tile. The piece then has its actual beginning.
  ///
  /// Throws: FileProblem that begins with the file's name.
  std::size_t fill(FilePiece& piece, Tile& tile);
  /// Notes that the file ends within a record of this size; 0: it does not. `fill` notes it for its pieces.
  void note_end(std::string const& name, std::uint64_t unfinished_bytes);
  /// Notes that records of a file were left out between two of its pieces.
  void note_loss(RecordLoss const& loss);
  /// Losses of all pieces so far.
  RecordLoss loss() const;
  /// Sentences on files that ended within a record, and on files that grew while they were read.
  std::vector<std::string> remarks() const;

 private:
  std::size_t read(OpenFile& file, FilePiece& piece, std::span<std::byte> tile);
  std::size_t leave_begun(OpenFile& file, FilePiece const& piece, std::span<std::byte const> records) const;
  void expect_readable(OpenFile const& file, FilePiece const& piece);
  std::size_t read_chained(OpenFile& file, FilePiece& piece, std::span<std::byte> tile);

  FileReaders& readers_;
  mutable std::mutex mutex_;
  RecordLoss loss_;
  std::string first_end_;         ///< Description of the first file that ended within a record.
  std::uint64_t other_ends_ = 0;  ///< Number of other such files.
  std::string first_grown_;       ///< The first file that grew.
  std::uint64_t others_grown_ = 0;
};

}  // namespace penstock
