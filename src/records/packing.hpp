// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/core/pool.hpp"
#include "penstock/records.hpp"
#include "penstock/records/record_stages.hpp"
#include "penstock/tile.hpp"
#include "records/pack.hpp"

namespace penstock {

/// Layout of records in a tile: consecutive from its first byte on, followed by the table of their places if they are
/// of any size. Results replace their records, or are consecutive.
///
/// Threads: any; it never changes.
class Packing {
 public:
  /// Throws: Error, if tiles of this shape hold no record, or options contradict each other or the shape.
  Packing(TileShape shape, RecordOptions const& options);

  /// Size of the largest record that a tile holds.
  std::size_t most_bytes() const noexcept { return most_bytes_; }
  /// Throws: Error, if no tile holds a record of this size; the text names the remedy.
  void expect_size(std::size_t bytes) const;
  /// Throws: Error, if no tile holds `records` records that take `bytes` bytes together; the text names the remedy.
  void expect_room(std::size_t bytes, std::size_t records) const;
  /// True if the pack has room for another record of this size, or for `records` records of this size together.
  bool has_room(Pack const& pack, std::size_t bytes, std::size_t records = 1) const noexcept;
  /// Place of the next records, in a pack that has room for them.
  std::span<std::byte> room(Pack const& pack, std::size_t bytes) const noexcept;
  /// Reserves memory in the pack for the entries of more records.
  ///
  /// Throws: std::bad_alloc.
  void expect_more(Pack& pack, std::size_t records) const;
  /// Adds the bytes at the pack's end as the next record; the pack has memory for its entry.
  void add(Pack& pack, std::size_t bytes, Pack::Entry entry) const noexcept;
  /// Throws: as expect_size, for the first that no tile holds.
  void expect_sizes(std::span<std::span<std::byte const> const> records) const;
  /// Copies as many of these as the pack has room for, with tags from `first_tag` on, and returns their number.
  ///
  /// Shape:  `expect_sizes` accepts them.
  /// Throws: std::bad_alloc; none was copied then.
  std::size_t copy(Pack& pack, std::span<std::span<std::byte const> const> records, std::uint64_t first_tag) const;
  /// Size of the part of a room that these records take.
  ///
  /// Shape:  places are offsets into the room.
  /// Throws: Error, if a place is not within the room's `bytes`, or is not allowed by the options.
  std::size_t expect_places(std::span<RecordPlace const> places, std::size_t bytes) const;
  /// Adds records at these places among the bytes at the pack's end, with tags from `first_tag` on; the pack has memory
  /// for their entries.
  ///
  /// Shape: `taken` is the result of `expect_places` for them.
  void add(Pack& pack, std::span<RecordPlace const> places, std::size_t taken, std::uint64_t first_tag) const noexcept;
  /// Moves all records of an open pack into another one without records.
  ///
  /// Threads: any; another may write behind the last record at the same time.
  static void move(Pack& from, Pack& to) noexcept;
  /// Writes the table into the tile and sets the number of filled bytes.
  void close(Pack& pack) const noexcept;

  /// The records of a closed pack as they are in a tile on a device.
  DeviceRecords on_device(Pack const& pack, DeviceTile const& tile) const noexcept;
  /// Identifies the work on a closed pack's records for Promises::capturable, apart from the place and size of the
  /// tile: tiles with equally many bytes may have records of other sizes, and other numbers of them.
  static std::uint64_t variant(Pack const& pack) noexcept;
  /// Size of the output to copy back, including gaps.
  std::size_t produced(Pack const& pack) const noexcept;
  /// Total size of the results of its records.
  std::size_t result_bytes(Pack const& pack) const noexcept;
  /// The completions of its records, with their results in the tile that came back.
  RecordCompletions completions(Pack const& pack, Tile const& tile, Outcome outcome,
                                Failure const* failure) const noexcept;

 private:
  struct Notes {
    RecordPlace* places;  ///< Null if all records are of the same size.
    Pack::Entry* entries;
  };
  Notes room_for(Pack& pack, std::size_t records) const noexcept;
  bool has_room(std::size_t offset, std::size_t count, std::size_t bytes, std::size_t records) const noexcept;
  std::size_t next_offset(Pack const& pack) const noexcept;
  std::size_t table_offset(Pack const& pack) const noexcept;

  std::size_t const room_;  ///< Bytes of input in a tile.
  std::size_t const output_room_;
  std::size_t const each_;     ///< Size of every record; 0: any size.
  bool const in_place_;        ///< Results replace their records.
  std::size_t const results_;  ///< Size of each result otherwise.
  std::size_t const alignment_;
  std::size_t most_bytes_ = 0;
  std::size_t most_records_ = 0;  ///< Limit that follows from the size of the results.
};

}  // namespace penstock
