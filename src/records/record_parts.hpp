// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/event_count.hpp"
#include "engine/core/own_process.hpp"
#include "engine/machine/bound_thread.hpp"
#include "penstock/records.hpp"
#include "records/departures.hpp"
#include "records/pack.hpp"
#include "records/packing.hpp"

namespace penstock {

/// The implementation of Records.
struct Records::Parts {
  Parts(Pipeline& fed, RecordOptions const& options);
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts() { end_clock(); }

  /// These have the contracts of Records.
  void start(RecordStages stages, RecordSink told, RecordTileSink told_by_tiles);
  RecordReport drain();
  /// Takes the writer's pack, with room for `records` records of `bytes` bytes together; null if there is no tile and
  /// it may not wait for one.
  ///
  /// Throws: Error, as RecordWriter::append; nothing is then taken up.
  Pack* take_up(Desk& desk, std::size_t bytes, std::size_t records, bool may_wait);
  /// Undoes `take_up`.
  void put_down(Desk& desk, Pack& pack) noexcept;

  OwnProcess const process;
  Pipeline& pipeline;
  Packing const packing;
  std::vector<Pack> packs;  ///< Packs by the index of the tile.
  /// Notifies threads that wait for a reply, selected by its address: a bell of its own would die with the reply that
  /// was answered, and a single one would wake all for each.
  std::array<EventCount, 64> bells;
  RecordSink sink;  ///< Changes only while nothing runs; so does the next member.
  RecordTileSink sink_of_tiles;
  Departures departures;
  BoundThread clock;  ///< Sends late packs, while started.

 private:
  struct Counts {
    std::atomic<std::uint64_t> done{0}, failed{0}, cancelled{0}, bytes_in{0}, bytes_out{0};
    std::array<std::atomic<std::uint64_t>, departure_kinds> left{};
  };

  Stages stages_for(RecordStages stages);
  void send(Pack& pack, Departure why) noexcept;
  /// Has the contract of Departures::Divide.
  Pack* divide(Pack& claimed, Pack* empty) noexcept;
  /// Takes a tile that is no longer needed: sends in it the records that wait for one, or gives it back.
  void spare(Loan loan) noexcept;
  /// Notifies the sink or the listener of every record of the tile.
  ///
  /// Throws: the first exception that a sink or a listener threw.
  void deliver(Completion const& completion);
  void count(Pack const& pack, Outcome outcome) noexcept;
  /// Ends a run that was drained.
  RecordReport wind_up(Report tiles) noexcept;
  RecordReport report_on(Report tiles) noexcept;
  void forget_sinks() noexcept;
  void end_clock() noexcept;

  Counts counts_;
};

}  // namespace penstock
