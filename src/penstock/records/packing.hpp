// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "penstock/core/pool.hpp"
#include "penstock/record_completions.hpp"
#include "penstock/record_stages.hpp"
#include "penstock/records.hpp"
#include "penstock/records/pack.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// How records lie in a tile: one behind the other from its first byte on, and behind the last, if they are of any
/// size, the table of their places. Results lie where their records do, or one behind the other.
///
/// Threads: any; it never changes.
class Packing {
 public:
  /// Throws: Error, if tiles of this shape hold no record, or options contradict each other or the shape.
  Packing(TileShape shape, RecordOptions const& options);

  /// The largest record that a tile holds.
  std::size_t most_bytes() const noexcept { return most_bytes_; }
  /// Throws: Error, if no tile holds a record of this size; the text names the remedy.
  void expect_size(std::size_t bytes) const;
  /// Throws: Error, if no tile holds so many records that take so many bytes together; the text names the remedy.
  void expect_room(std::size_t bytes, std::size_t records) const;
  /// True if the pack has room for another record of this size, or for so many that take so much together.
  bool has_room(Pack const& pack, std::size_t bytes, std::size_t records = 1) const noexcept;
  /// Where the next records go, in a pack that has room for them.
  std::span<std::byte> room(Pack const& pack, std::size_t bytes) const noexcept;
  /// Sees to it that the pack has memory for the entries of more records.
  ///
  /// Throws: std::bad_alloc.
  void expect_more(Pack& pack, std::size_t records) const;
  /// The bytes that were put there are the next record; the pack has memory for its entry.
  void add(Pack& pack, std::size_t bytes, Pack::Entry entry) const noexcept;
  /// Throws: as expect_size, for the first that no tile holds.
  void expect_sizes(std::span<std::span<std::byte const> const> records) const;
  /// Copies as many of these as the pack has room for, tagged from `first_tag` on, and says how many.
  ///
  /// Shape:  `expect_sizes` accepts them.
  /// Throws: std::bad_alloc; none was copied then.
  std::size_t copy(Pack& pack, std::span<std::span<std::byte const> const> records, std::uint64_t first_tag) const;
  /// How much of a room these records take.
  ///
  /// Shape:  places are offsets into the room.
  /// Throws: Error, if one does not lie in the room's `bytes`, or not where records of these options may lie.
  std::size_t expect_places(std::span<RecordPlace const> places, std::size_t bytes) const;
  /// The bytes that were put there are at these places the next records, tagged from `first_tag` on; the pack has
  /// memory for their entries.
  ///
  /// Shape: `taken` is what `expect_places` said of them.
  void add(Pack& pack, std::span<RecordPlace const> places, std::size_t taken, std::uint64_t first_tag) const noexcept;
  /// Moves all records of a pack that is not closed into another that has none.
  ///
  /// Threads: any; another may write behind the last record meanwhile.
  static void move(Pack& from, Pack& to) noexcept;
  /// Puts the table into the tile and says how much of it is filled.
  void close(Pack& pack) const noexcept;

  /// The records of a closed pack as they lie in a tile on a device.
  DeviceRecords on_device(Pack const& pack, DeviceTile const& tile) const noexcept;
  /// What the work on a closed pack's records depends on beside where the tile lies and how large it is, where a stage
  /// promises Promises::capturable: tiles that are filled alike may have records of other sizes, and other numbers.
  static std::uint64_t variant(Pack const& pack) noexcept;
  /// How much of the output there is to bring back, with the gaps.
  std::size_t produced(Pack const& pack) const noexcept;
  /// How large the results of its records are together.
  std::size_t result_bytes(Pack const& pack) const noexcept;
  /// The answers to its records, with their results in the tile that came back.
  RecordCompletions completions(Pack const& pack, Tile const& tile, Outcome outcome,
                                Failure const* failure) const noexcept;

 private:
  struct Notes {
    RecordPlace* places;  ///< Null, if all records are of the same size.
    Pack::Entry* entries;
  };
  Notes room_for(Pack& pack, std::size_t records) const noexcept;
  bool has_room(std::size_t offset, std::size_t count, std::size_t bytes, std::size_t records) const noexcept;
  std::size_t next_offset(Pack const& pack) const noexcept;
  std::size_t table_offset(Pack const& pack) const noexcept;

  std::size_t const room_;  ///< Bytes of input in a tile.
  std::size_t const output_room_;
  std::size_t const each_;     ///< Of every record; 0 for any size.
  bool const in_place_;        ///< Results lie where their records do.
  std::size_t const results_;  ///< Bytes of each otherwise.
  std::size_t const alignment_;
  std::size_t most_bytes_ = 0;
  std::size_t most_records_ = 0;  ///< By their results.
};

}  // namespace penstock
