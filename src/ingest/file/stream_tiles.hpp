// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ingest/file/byte_stream.hpp"
#include "ingest/file/input_cut.hpp"
#include "ingest/file/text_head.hpp"
#include "ingest/framing/stream_cutter.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

/// Reads streams into tiles, one stream after the other: the next bytes, or the next records, behind the last bytes of
/// the preceding tile.
///
/// Threads: one at a time.
class StreamTiles {
 public:
  /// `options` must outlive this. `places`: the places of the records of a tile are wanted.
  ///
  /// Throws: Error of kind bad_argument, if tiles of this size cannot overlap as the options say.
  StreamTiles(FileSourceOptions const& options, std::size_t tile_bytes, bool places);

  /// Begins another input. If its head determines the cut, that is then not known.
  void restart();
  /// The cut of the input, with a framing; null as long as it is not known.
  std::shared_ptr<InputCut> const& cut() const noexcept { return cut_; }
  /// Number of first bytes of an input that determine its cut; 0: it is known.
  std::size_t head_bytes() const noexcept;
  /// Cuts the input as its first bytes, at most head_bytes, determine. Returns the number of these in front of its
  /// records.
  ///
  /// Throws: FileProblem, if no input can begin with these bytes.
  std::size_t cut_by_head(std::span<std::byte const> first);

  struct Next {
    std::uint64_t offset = 0;  ///< Offset in the stream of the tile's first byte.
    std::size_t bytes = 0;
    std::size_t more = 0;              ///< Number of these bytes that no earlier tile had.
    bool ended = false;                ///< True: this is the last tile.
    std::size_t unfinished_bytes = 0;  ///< Size of the incomplete record with which the stream has ended.
    TileRecords records = {};          ///< Set with a framing.
  };
  /// Reads the next tile of this stream. Once a stop is requested, it has only the bytes read so far, perhaps none.
  ///
  /// Blocks: as ByteStream::gather.
  /// Throws: FileProblem, if the stream cannot be read further, or its records cannot be found.
  Next next(ByteStream& stream, std::span<std::byte> tile);

  /// Ends the stream early: a record of it that has begun is unfinished.
  void break_off();

  /// Losses of all streams so far.
  RecordLoss loss() const;

 private:
  void cut_by(Framing::OfInput const& of, bool ends_by_cr = false);
  void cut_text(TextHead const& head);
  ByteStream::Gathered gather(ByteStream& stream, std::span<std::byte> room);
  ByteStream::Gathered read(ByteStream& stream, std::span<std::byte> room) const;
  std::size_t gather_head(ByteStream& stream, std::span<std::byte> room);
  std::size_t gather_text(ByteStream& stream, std::span<std::byte> room);

  FileSourceOptions const& options_;
  std::size_t const tile_bytes_;
  bool const wants_places_;
  std::shared_ptr<InputCut> cut_;
  std::optional<StreamCutter> cutter_;  ///< Empty until it is known how to cut the stream.
  RecordLoss loss_;                     ///< Losses of earlier cutters.
  bool read_to_end_ = false;            ///< The cutter has all remaining bytes.
  std::uint64_t given_ = 0;             ///< Number of bytes of the stream in tiles so far.
  std::vector<std::byte> again_;        ///< Bytes with which the next tile begins.
};

}  // namespace penstock
