// SPDX-License-Identifier: Apache-2.0
// What other processes write into shared memory as the source of a pipeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/pipeline.hpp"
#include "penstock/shared_ring.hpp"

namespace penstock {

/// What a writer committed at once.
///
/// Units: bytes.
struct SharedPiece {
  std::size_t place = 0;       ///< SharedRingWriter::place of its writer.
  std::uint64_t sequence = 0;  ///< Its number among those of that place, with those that were dropped.
  std::uint64_t tag = 0;       ///< The writer's own.
  std::size_t offset = 0;      ///< Where it begins in the tile.
  std::size_t bytes = 0;
};

struct SharedRingSourceOptions {
  /// Ends the input. What is in the ring stays there, for another source.
  std::stop_token stop = {};
  /// Ends the input once so many writers have come since the ring was made, all have ended or were killed, and what
  /// they committed is read. Empty: a stop ends it.
  std::optional<std::uint64_t> writers = 1;
  /// Ends the input once nothing has come for so long while the source waited and no tile stood for a slot. Empty:
  /// silence does not.
  std::optional<std::chrono::milliseconds> idle = {};
  /// Pieces are copied into tiles, whole, as many as are there and fit, and their slots are free at once. For pieces
  /// that are much smaller than a tile.
  bool copies = false;
};

/// Feeds a pipeline from a SharedRing.
///
/// Each tile stands for a slot (Tile::use_memory), which no byte is copied from, and which its writer has again when
/// the tile's loan dies. The memory is to be pinned with the devices. Tile::tag is the tag of the first piece.
///
/// Threads: as Source; `pieces_of` is for the thread that holds the tile.
class SharedRingSource final : public Source {
 public:
  /// `ring` and `pool` outlive this; `ring` outlives each loan that this has filled.
  ///
  /// Throws: Error of kind bad_argument, if a slot is larger than a tile's input, tiles are worked on in place, or the
  ///         ring has a source.
  SharedRingSource(SharedRing& ring, Pool const& pool, SharedRingSourceOptions options = {});
  SharedRingSource(SharedRingSource const&) = delete;
  SharedRingSource& operator=(SharedRingSource const&) = delete;
  ~SharedRingSource() override;

  /// Blocks: until a piece was committed, or the input ends. A writer that was killed is noticed within about 100 ms.
  bool next(Tile& tile) override;
  /// Blocks: never.
  std::size_t fill(Tile& tile) override;
  /// What was lost, and how writers ended.
  std::vector<std::string> remarks() const override;
  /// What no tile has, and why.
  ///
  /// Threads: any, while none is in `next` or `fill`.
  std::vector<LeftOut> left_out() const override;
  /// For a tile that is filled: one, or with `copies` one or more.
  std::vector<SharedPiece> const& pieces_of(Tile const& tile) const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
