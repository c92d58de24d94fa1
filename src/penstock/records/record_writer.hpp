// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "penstock/records/record_completion.hpp"

namespace penstock {

struct Pack;
struct StandardAtomics;
template <class Atomics>
struct BasicDesk;
using Desk = BasicDesk<StandardAtomics>;
class Records;

/// Room for one record in its writer's open tile. Without a commit there is no record.
///
/// Threads: the writer's. It must die before its writer does, and the writer does nothing else meanwhile.
class RecordRoom {
 public:
  RecordRoom(RecordRoom&& other) noexcept
      : records_(std::exchange(other.records_, nullptr)),
        desk_(other.desk_),
        pack_(other.pack_),
        bytes_(other.bytes_) {}
  RecordRoom& operator=(RecordRoom&&) = delete;
  ~RecordRoom();

  /// To be filled in place.
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// The first `bytes` of it are a record, which gets its one completion.
  ///
  /// Throws: Error, if there is not so much room, or all records are to have another size; or if it was committed
  /// before. Unless it was, the room is then given back.
  void commit(std::size_t bytes, std::uint64_t tag = 0) { commit(bytes, tag, nullptr); }
  /// The same; the listener is told of it instead of the sink. It must live until then.
  void commit(std::size_t bytes, RecordListener& listener, std::uint64_t tag = 0) { commit(bytes, tag, &listener); }

 private:
  friend class RecordWriter;
  RecordRoom(Records& records, Desk& desk, Pack& pack, std::span<std::byte> bytes) noexcept
      : records_(&records), desk_(&desk), pack_(&pack), bytes_(bytes) {}
  void commit(std::size_t bytes, std::uint64_t tag, RecordListener* listener);

  Records* records_;  ///< Null once it is committed or given back.
  Desk* desk_;
  Pack* pack_;
  std::span<std::byte> bytes_;
};

/// One thread's way of writing records: it has an open tile of its own, which fills while others fill theirs. It must
/// die before its Records does; what it wrote leaves with it.
///
/// Threads: one at a time.
class RecordWriter {
 public:
  RecordWriter(RecordWriter&& other) noexcept : records_(other.records_), desk_(std::exchange(other.desk_, nullptr)) {}
  RecordWriter& operator=(RecordWriter&&) = delete;
  ~RecordWriter();

  /// Copies a record into the open tile. It gets its one completion.
  ///
  /// Blocks: until there is a tile, if the open one is full and all are out; so never call it from a sink or a oneTBB
  ///         task: try_append does not wait.
  /// Throws: Error, if no tile holds so large a record, or all are to have another size; unless the records were
  ///         started, or once they were drained; when it needs a tile and they were stopped, or the devices are lost:
  ///         what still goes into the open tile then is cancelled or fails. Nothing was written then.
  void append(std::span<std::byte const> bytes, std::uint64_t tag = 0);
  /// The same; the listener is told of it instead of the sink. It must live until then.
  void append(std::span<std::byte const> bytes, RecordListener& listener, std::uint64_t tag = 0);
  /// The same, if there is room now; false, and nothing was written, if not.
  ///
  /// Throws: Error, for the record's size alone; and what the listener throws at being asked.
  bool try_append(std::span<std::byte const> bytes, std::uint64_t tag = 0);
  bool try_append(std::span<std::byte const> bytes, RecordListener& listener, std::uint64_t tag = 0);
  /// Room for a record of at most `most` bytes, to be filled in place. While it lives, no thread can drain the records.
  ///
  /// It holds no other record back: those in the same tile leave by another tile when lanes are hungry, or when they
  /// have waited for RecordOptions::linger. If all tiles are under way or claimed, or the records were stopped, they
  /// wait for the first that comes back, or for the end of the claim.
  /// Blocks and Throws: as append.
  RecordRoom claim(std::size_t most);
  /// Sends the open tile, whatever is under way.
  void flush() noexcept;

 private:
  friend class Records;
  RecordWriter(Records& records, Desk& desk) noexcept : records_(&records), desk_(&desk) {}
  std::optional<RecordRoom> room_for(std::size_t bytes, bool may_wait);
  bool write(std::span<std::byte const> bytes, std::uint64_t tag, RecordListener* listener, bool may_wait);

  Records* records_;
  Desk* desk_;  ///< Null once it was moved from.
};

}  // namespace penstock
