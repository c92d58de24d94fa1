// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/of_tiles.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/pool.hpp"
#include "ingest/file/chain_ends.hpp"
#include "ingest/file/decoded_files.hpp"
#include "ingest/file/file_piece.hpp"
#include "ingest/file/file_pieces.hpp"
#include "ingest/file/file_reader.hpp"
#include "ingest/file/followed_files.hpp"
#include "ingest/file/observed.hpp"
#include "ingest/file/open_file.hpp"
#include "ingest/file/stream_tiles.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

/// The implementation of a FileSource.
class FileSource::Parts {
 public:
  Parts(NextFile next, Pool const& pool, FileSourceOptions options);

  /// These have the contracts of FileSource.
  void serve(Pool const& pool);
  bool next(Tile& tile);
  std::size_t fill(Tile& tile);
  Place place_of(Tile const& tile) { return jobs_.of(tile).place; }
  RecordLoss loss();
  std::vector<std::string> remarks();
  std::vector<LeftOut> left_out();

  OwnProcess const process;

 private:
  bool next_followed(Tile& tile);
  bool next_decoded(Tile& tile);
  bool next_of_current(Tile& tile);
  void abandon();
  void begin_decoding(bool in_part);
  bool open(InputFile const& input, Tile& tile);
  /// The cut of the current file, with a framing; null until its head was read.
  std::shared_ptr<InputCut> const& cut() const { return stream_tiles_.cut(); }
  void begin_pieces(std::optional<FileRange> const& range);
  bool give_piece(Tile& tile);
  bool next_of_ends(Tile& tile);
  bool next_of_stream(Tile& tile);
  bool fail_file(FileProblem const& problem, Tile& tile);
  void give(Tile& tile, FilePiece piece);
  void end_file();

  FileReaders readers_;
  PieceReader pieces_;
  NextFile const next_file_;
  std::size_t const tile_bytes_;
  bool const has_places_;  ///< True if tiles have a second input.
  FileSourceOptions const options_;
  Observed observed_;
  StreamTiles stream_tiles_;
  DecodedFiles decoded_;
  std::optional<FollowedFiles> followed_;
  ChainEnds chain_ends_;
  OfTiles<FilePiece, most_pools> jobs_;

  bool opened_all_ = false;
  std::shared_ptr<OpenFile> current_;
  std::optional<FilePieces> in_pieces_;  ///< State of the current file, if all producers read it at once.
  std::shared_ptr<ByteStream> stream_;   ///< Content of the current file, if it is read as a stream.
  std::shared_ptr<std::string const> name_;
  std::uint64_t file_ = 0;   ///< Number of the current file.
  std::uint64_t files_ = 0;  ///< Number of files begun so far.
  std::uint64_t tiles_ = 0;  ///< Number of tiles of the current file given out so far.
  std::uint64_t bytes_ = 0;  ///< Number of bytes of the current file before the next tile's own.
};

}  // namespace penstock
