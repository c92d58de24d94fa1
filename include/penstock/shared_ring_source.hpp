// SPDX-License-Identifier: Apache-2.0
// A source of a pipeline for data that other processes write to shared memory.
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

/// The data of one commit of a writer.
///
/// Units: bytes.
struct SharedPiece {
  std::size_t place = 0;       ///< SharedRingWriter::place of its writer.
  std::uint64_t sequence = 0;  ///< Its number among the pieces of that place, including dropped ones.
  std::uint64_t tag = 0;       ///< The writer's own number.
  std::size_t offset = 0;      ///< Offset in the tile.
  std::size_t bytes = 0;
};

struct SharedRingSourceOptions {
  /// Ends the input. Data in the ring stays there, for another source.
  std::stop_token stop = {};
  /// Number of writers that end the input: once as many have connected since the ring was made, all have ended or were
  /// killed, and their commits are read. Empty: only a stop ends it.
  std::optional<std::uint64_t> writers = 1;
  /// Ends the input after this time without data, while the source waited and no tile referred to a slot. Empty:
  /// silence does not end it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// Copies whole pieces into tiles, as many as are there and fit; their slots are free at once. For pieces that are
  /// much smaller than a tile.
  bool copies = false;
};

/// Feeds a pipeline from a SharedRing.
///
/// Each tile refers to a slot (Tile::use_memory): no byte is copied, and the writer gets the slot back when the tile's
/// loan dies. The memory is to be pinned with the devices. Tile::tag is the tag of the first piece.
///
/// Threads: as Source; `pieces_of` is for the thread that holds the tile.
class SharedRingSource final : public Source {
 public:
  /// `ring` and `pool` must outlive this; `ring` must outlive each loan that this has filled.
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
  /// Remarks on losses, and on the ends of writers.
  std::vector<std::string> remarks() const override;
  /// Pieces that are in no tile, with the reasons.
  ///
  /// Threads: any, while none is in `next` or `fill`.
  std::vector<LeftOut> left_out() const override;
  /// Pieces of a tile that is filled: one, or with `copies` one or more.
  std::vector<SharedPiece> const& pieces_of(Tile const& tile) const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
