// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/file/open_file.hpp"
#include "penstock/files.hpp"
#include "penstock/framing/stream_cutter.hpp"

namespace penstock {

/// Reads streams into tiles, one stream after the other: what comes next, or the records that come next, behind the
/// last bytes of the tile before.
///
/// Threads: one at a time.
class StreamTiles {
 public:
  /// `options` outlive this.
  ///
  /// Throws: Error of kind bad_argument, if tiles of so many bytes cannot overlap as the options say.
  StreamTiles(FileSourceOptions const& options, std::size_t tile_bytes);

  /// Another stream begins.
  void restart();

  struct Next {
    std::uint64_t offset = 0;  ///< In the stream, of the tile's first byte.
    std::size_t bytes = 0;
    std::size_t more = 0;  ///< Of these, the ones that no tile before had.
    bool ended = false;    ///< There is no tile after this one, or a stop is requested.
  };
  /// Reads the next tile of this stream.
  ///
  /// Blocks: as OpenFile::gather.
  /// Throws: FileProblem, if the stream cannot be read on, or its records cannot be told.
  Next next(OpenFile const& stream, std::span<std::byte> tile);

  /// Of all streams so far.
  RecordLoss loss() const { return cutter_ ? cutter_->loss() : RecordLoss{}; }

 private:
  OpenFile::Gathered gather(OpenFile const& stream, std::span<std::byte> room);

  FileSourceOptions const& options_;
  std::optional<StreamCutter> cutter_;  ///< With a framing.
  bool read_to_end_ = false;            ///< What the cutter holds is all that is left.
  std::uint64_t given_ = 0;             ///< Bytes of the stream that tiles have so far.
  std::vector<std::byte> again_;        ///< What the next tile begins with.
};

}  // namespace penstock
