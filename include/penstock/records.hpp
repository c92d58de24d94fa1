// SPDX-License-Identifier: Apache-2.0
// Work that is smaller than a tile: packed into tiles, with a completion for each record.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/pipeline.hpp"
#include "penstock/records/record_stages.hpp"
#include "penstock/report.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Packing of records. No option has to be set: by default records are of any size, and the result of each replaces its
/// input.
struct RecordOptions {
  /// Size of every record; the device then needs no table of them. 0: records of any size.
  std::size_t record_bytes = 0;
  /// Size of the result of each record; the results are then consecutive. 0: there is no result. Empty: as large as the
  /// record, in the same place.
  std::optional<std::size_t> output_bytes = {};
  /// Alignment of records of any size: a power of two.
  std::size_t alignment = 16;
  /// Time that a record waits for others to fill its tile, once the lanes have enough to do: longer than eight writers
  /// take to fill 4 MiB tiles at the speed of a link. A day is the maximum.
  std::chrono::microseconds linger{5000};
  /// Number of tiles in progress below which a tile leaves before it is full: the lanes are hungry. 0: three for each
  /// lane, one each for upload, stage and download, but at most half of the tiles, since otherwise none would ever
  /// fill.
  std::size_t hungry_below = 0;
  /// Minimum number of bytes for a tile to be sent to hungry lanes; with fewer it waits for more, at most for `linger`.
  /// If records come fast and are small, that makes fewer and fuller tiles, each of which costs some microseconds of
  /// CPU time; a single record is then answered after `linger`. 0: one record is enough.
  std::size_t least_bytes = 0;
};

struct Pack;
struct StandardAtomics;
template <class Atomics>
struct BasicDesk;
template <class Atomics>
class BasicEventCount;
using Desk = BasicDesk<StandardAtomics>;
class Records;

/// Room for one or more records in their writer's open tile. Nothing becomes a record before a commit.
///
/// Threads: the writer's. It must die before its writer does, and the writer does nothing else meanwhile.
class RecordRoom {
 public:
  RecordRoom(RecordRoom&& other) noexcept
      : records_(std::exchange(other.records_, nullptr)),
        desk_(other.desk_),
        pack_(other.pack_),
        bytes_(other.bytes_),
        most_(other.most_) {}
  RecordRoom& operator=(RecordRoom&&) = delete;
  ~RecordRoom();

  /// The bytes to fill.
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// Makes a record of the first `bytes` bytes, which gets its one completion.
  ///
  /// Throws: Error, if there is less room, or another size is required; or if it was committed before. Otherwise, the
  ///         room is then given back.
  void commit(std::size_t bytes, std::uint64_t tag = 0) { commit(bytes, tag, nullptr); }
  /// The same; the listener is notified instead of the sink. It must live until then.
  void commit(std::size_t bytes, RecordListener& listener, std::uint64_t tag = 0) { commit(bytes, tag, &listener); }
  /// Makes a record of each of these places. Each gets its one completion from the sink: the first with `first_tag`,
  /// the next with one more, and so on. Bytes between them are carried along and belong to none.
  ///
  /// Shape: places are offsets into `bytes()`, at multiples of RecordOptions::alignment and in any order; consecutive
  ///        and in order, if all records are of the same size. An empty list is allowed.
  ///
  /// Throws: Error, if there are more than were claimed, or a place is not valid; or if it was committed before. The
  ///         room is then given back, except in the last case.
  void commit(std::span<RecordPlace const> places, std::uint64_t first_tag = 0);

 private:
  friend class RecordWriter;
  RecordRoom(Records& records, Desk& desk, Pack& pack, std::span<std::byte> bytes, std::size_t most) noexcept
      : records_(&records), desk_(&desk), pack_(&pack), bytes_(bytes), most_(most) {}
  void commit(std::size_t bytes, std::uint64_t tag, RecordListener* listener);

  Records* records_;  ///< Null once it is committed or given back.
  Desk* desk_;
  Pack* pack_;
  std::span<std::byte> bytes_;
  std::size_t most_;  ///< Maximum number of records.
};

/// Writes records for one thread: it has an open tile of its own, which fills while other writers fill theirs. It must
/// die before its Records does; records that it wrote leave with it.
///
/// Within a tile records are in the order in which they were written, and reach the sink in it. A later tile of a
/// writer may overtake an earlier one, also with PipelineOptions::ordered, which is the order in which tiles leave:
/// hungry lanes and RecordOptions::linger make other threads send a tile, while its writer continues. If the order of
/// all records of a writer matters, number them by their tags, or let tiles leave full: with `least_bytes` larger than
/// a tile, a `linger` of a day, and PipelineOptions::ordered.
///
/// Threads: one at a time.
class RecordWriter {
 public:
  RecordWriter(RecordWriter&& other) noexcept : records_(other.records_), desk_(std::exchange(other.desk_, nullptr)) {}
  RecordWriter& operator=(RecordWriter&&) = delete;
  ~RecordWriter();

  /// Copies a record into the open tile. It gets its one completion.
  ///
  /// Blocks: until there is a tile, if the open one is full and all others are on loan; so never call it from a sink or
  ///         a oneTBB task: try_append does not wait.
  /// Throws: Error, if no tile holds a record of this size, or all must have another size; if the records were not
  ///         started, or were drained; if it needs a tile and they were stopped, or the devices are lost: records that
  ///         still fit into the open tile are then cancelled or fail. Nothing was written then.
  void append(std::span<std::byte const> bytes, std::uint64_t tag = 0);
  /// The same; the listener is notified instead of the sink. It must live until then.
  void append(std::span<std::byte const> bytes, RecordListener& listener, std::uint64_t tag = 0);
  /// The same, if there is room now; otherwise returns false and writes nothing.
  ///
  /// Throws: Error, only for the record's size; and exceptions of the listener's `committed`.
  bool try_append(std::span<std::byte const> bytes, std::uint64_t tag = 0);
  bool try_append(std::span<std::byte const> bytes, RecordListener& listener, std::uint64_t tag = 0);
  /// Copies consecutive records, the first with `first_tag`, the next with one more, and so on: for a few nanoseconds
  /// each, where `append` takes some tens. Returns the number of records written; it is less than all only if there was
  /// no tile, or no memory for the notes about records, for the next.
  ///
  /// Blocks: as append.
  /// Throws: as append, and std::bad_alloc, if the first cannot be written; or for the size of any. Nothing was written
  /// then.
  std::size_t append_many(std::span<std::span<std::byte const> const> records, std::uint64_t first_tag = 0);
  /// The same, as far as there is room now.
  ///
  /// Throws: Error, for the size of any; nothing was written then.
  std::size_t try_append_many(std::span<std::span<std::byte const> const> records, std::uint64_t first_tag = 0);
  /// Room for a record of at most `most` bytes, or for at most `records` records of that size together, to be filled in
  /// place. While it lives, no thread can drain the records.
  ///
  /// It does not delay other records: those in the same tile leave by another tile when lanes are hungry, or when they
  /// have waited for RecordOptions::linger. If all tiles are in progress or claimed, or the records were stopped, they
  /// wait for the first tile that comes back, or for the end of the claim.
  /// Blocks and Throws: as append.
  RecordRoom claim(std::size_t most, std::size_t records = 1);
  /// Sends the open tile, regardless of the load.
  void flush() noexcept;

 private:
  friend class Records;
  RecordWriter(Records& records, Desk& desk) noexcept : records_(&records), desk_(&desk) {}
  std::optional<RecordRoom> room_for(std::size_t bytes, std::size_t records, bool may_wait);
  std::size_t write_many(std::span<std::span<std::byte const> const> records, std::uint64_t first_tag, bool may_wait);
  bool write(std::span<std::byte const> bytes, std::uint64_t tag, RecordListener* listener, bool may_wait);

  Records* records_;
  Desk* desk_;  ///< Null once it was moved from.
};

/// The reason why a tile of records left.
enum class Departure : std::uint8_t {
  full,    ///< There was no room for the next record.
  hungry,  ///< The lanes had too little to do.
  late,    ///< Its oldest record had waited long enough.
  asked,   ///< Its writer requested it or was destroyed, or all records were drained.
};
inline constexpr std::size_t departure_kinds = 4;

/// Counts of the records written between `start` and `drain`. Each is counted once.
struct RecordReport {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t bytes_in = 0;   ///< Bytes of the records that are done.
  std::uint64_t bytes_out = 0;  ///< Bytes of their results.
  /// Number of tiles that left, by reason.
  std::array<std::uint64_t, departure_kinds> left = {};
  /// The pipeline's report. Its bytes include tables and gaps, and the tag of a tile is its number in the pool.
  Report tiles = {};

  std::uint64_t records() const noexcept { return done + failed + cancelled; }
  std::uint64_t left_for(Departure why) const noexcept { return left.at(static_cast<std::size_t>(why)); }
  /// True if every record is done and nothing else went wrong.
  bool ok() const noexcept { return tiles.ok() && failed == 0 && cancelled == 0; }
};

/// The report in one line for a person, followed by the description of the tiles.
std::string describe(RecordReport const& report);

/// Packs small pieces of work into a pipeline's tiles, and notifies the caller when each is done.
///
/// A tile leaves when it is full, when the lanes are hungry, or when its oldest record has waited long enough: records
/// travel alone under low load, and together under high load.
///
/// Threads: one, except for `writer` and `stop`, which any may call.
class Records {
 public:
  /// Packs into the tiles of this pipeline, which must outlive it; nothing else may feed the pipeline meanwhile. If its
  /// options request as many producers as there will be writers, each writer has a tile to fill in addition to those in
  /// flight. Records are in the first input of a tile. If tiles have other inputs (TileShape::more_input_bytes), those
  /// stay empty, and a RecordStage does not see them.
  ///
  /// Throws: Error, if the pipeline's tiles do not hold a record, or options contradict each other.
  explicit Records(Pipeline& pipeline, RecordOptions options = {});
  Records(Records const&) = delete;
  Records& operator=(Records const&) = delete;
  /// Stops and drains the current run. No writer may be left.
  ///
  /// Blocks: until the last completion.
  ~Records();

  /// Makes lanes and stages, and accepts records. Without a sink only listeners are notified.
  ///
  /// Throws: as Pipeline::start.
  void start(RecordStages stages, RecordSink sink);
  /// The same, with a sink that is called once for each tile instead of once for each record.
  void start_by_tiles(RecordStages stages, RecordTileSink sink);
  /// Makes a writer for a thread that will write. It may be made before the start, and stays usable from run to run.
  ///
  /// Throws: std::bad_alloc.
  RecordWriter writer();
  /// Sends all records written, waits for them, finishes and merges the stages, and reports.
  ///
  /// Blocks: until the last completion; and while a thread fills a record in place.
  /// Throws: as Pipeline::drain.
  [[nodiscard]] RecordReport drain();
  /// Cancels records that no device has started, as Pipeline::stop does.
  void stop() noexcept;

  /// Size of the largest record that fits.
  std::size_t most_bytes() const noexcept;

 private:
  friend class RecordRoom;
  friend class RecordWriter;
  friend class RecordReply;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The answer to one record as a value to wait for: pass it to `append` or `commit`. It can be used again once it was
/// answered, and then allocates only for larger outputs than before.
///
/// Threads: one, which writes the record and waits for the answer; another may wait.
class RecordReply final : public RecordListener {
 public:
  explicit RecordReply(Records& records) noexcept : records_(records) {}
  RecordReply(RecordReply const&) = delete;
  RecordReply& operator=(RecordReply const&) = delete;
  /// Blocks: until it is answered, if a record was written with it.
  ~RecordReply() override;

  /// True unless a record that was written with it has no answer yet.
  bool ready() const noexcept { return state_.load(std::memory_order_acquire) != State::asked; }
  /// Waits for the answer and returns its outcome.
  ///
  /// Blocks: until it is answered: awake for the time of `spin`, then asleep.
  /// Throws: Error, if no record was written with it.
  Outcome wait(std::chrono::nanoseconds spin = {});
  /// The result; empty unless the record is done. Valid once it is ready, and until it is used again.
  std::span<std::byte const> output() const noexcept { return output_; }
  /// Set if and only if the outcome is `failed`. Valid as long as the result.
  std::optional<Failure> const& failure() const noexcept { return failure_; }

  void committed() override;
  void complete(RecordCompletion const& completion) override;

 private:
  BasicEventCount<StandardAtomics>& bell() const noexcept;

  enum class State : std::uint8_t { unused, asked, answered };

  Records& records_;
  std::atomic<State> state_{State::unused};
  Outcome outcome_ = Outcome::done;
  std::vector<std::byte> output_;
  std::optional<Failure> failure_;
};

}  // namespace penstock
