// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "penstock/file/byte_stream.hpp"
#include "penstock/file/input_cut.hpp"
#include "penstock/file/text_head.hpp"
#include "penstock/files.hpp"
#include "penstock/framing/stream_cutter.hpp"

namespace penstock {

/// Reads streams into tiles, one stream after the other: what comes next, or the records that come next, behind the
/// last bytes of the tile before.
///
/// Threads: one at a time.
class StreamTiles {
 public:
  /// `options` outlive this. `places`: it is to be known where the records of a tile begin.
  ///
  /// Throws: Error of kind bad_argument, if tiles of so many bytes cannot overlap as the options say.
  StreamTiles(FileSourceOptions const& options, std::size_t tile_bytes, bool places);

  /// Another input begins. If its head is to say how it is cut, that is not known then.
  void restart();
  /// How the input is cut, with a framing; null as long as that is not known.
  std::shared_ptr<InputCut> const& cut() const noexcept { return cut_; }
  /// How many of an input's first bytes say how it is cut; 0: that is known.
  std::size_t head_bytes() const noexcept;
  /// The input is cut as its first bytes say, at most head_bytes. Returns how many of them are in front of its records.
  ///
  /// Throws: FileProblem, if no input begins so.
  std::size_t cut_by_head(std::span<std::byte const> first);

  struct Next {
    std::uint64_t offset = 0;  ///< In the stream, of the tile's first byte.
    std::size_t bytes = 0;
    std::size_t more = 0;              ///< Of these, the ones that no tile before had.
    bool ended = false;                ///< There is no tile after this one.
    std::size_t unfinished_bytes = 0;  ///< Of the record within which the stream has ended: how many it has.
    TileRecords records = {};          ///< With a framing.
  };
  /// Reads the next tile of this stream. Once a stop is requested, it has what was read until then, which may be
  /// nothing.
  ///
  /// Blocks: as ByteStream::gather.
  /// Throws: FileProblem, if the stream cannot be read on, or its records cannot be told.
  Next next(ByteStream& stream, std::span<std::byte> tile);

  /// The stream is not read on: a record of it that has begun is unfinished.
  void break_off();

  /// Of all streams so far.
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
  std::optional<StreamCutter> cutter_;  ///< Likewise.
  RecordLoss loss_;                     ///< Of cutters before.
  bool read_to_end_ = false;            ///< What the cutter holds is all that is left.
  std::uint64_t given_ = 0;             ///< Bytes of the stream that tiles have so far.
  std::vector<std::byte> again_;        ///< What the next tile begins with.
};

}  // namespace penstock
