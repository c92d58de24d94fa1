// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/device/work_failure.hpp"
#include "engine/lane/graph_capture.hpp"
#include "engine/lane/lane_streams.hpp"
#include "engine/lane/path_chooser.hpp"
#include "engine/lane/step_timer.hpp"
#include "penstock/device.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// What a slot knows of the batch of its tile.
struct SlotBatch {
  TransferPath path;
  /// The events of the slot of the batch's youngest tile, or of the flight's timer if the batch is timed.
  FlightEvents* events;
  std::size_t size;  ///< Number of tiles in the batch.
  bool leads;        ///< The slot's tile is the oldest of them.
  bool timed;        ///< The flight's timer knows its times.
  /// The device let go of the slot. The flight waited for that, because the device refused to record `landed`.
  bool let_go = false;
};

/// A place for one tile on the device, and the tile itself while it is there.
struct FlightSlot {
  FlightSlot(Device& device, bool split, std::size_t more_inputs) : plain(device, split, more_inputs) {}

  TileParts parts = {};          ///< Empty where nothing is copied.
  TileParts seen = {};           ///< Parts that the stage sees: these, or the tile's own.
  std::size_t mapped_bytes = 0;  ///< Bytes that the stage moves over the link itself.
  SlotGraph graph;
  WorkFailure own_work;  ///< Exception of this tile's work; for a batch's youngest tile also of its batch's work.
  WorkFailure* work = &own_work;
  FlightEvents plain;
  Loan loan;
  std::shared_ptr<Failure const> failure;
  SlotBatch batch = {};
};

/// The slots that were put at once, in their order. Each list has room for all slots, so that nothing is allocated.
struct FlightBatch {
  std::vector<FlightSlot*> all;
  std::vector<FlightSlot*> live;  ///< Slots whose tiles have not failed.
  TransferPath path = TransferPath::copied;
  FlightEvents* events = nullptr;
  std::size_t timer_place = 0;  ///< Place at which the timer knows its times,
  bool timed = false;           ///< if it does.

  /// Begins the next batch, which has no slot.
  void begin(TransferPath by, FlightEvents* of, std::size_t place, bool known_to_timer) noexcept {
    all.clear();
    live.clear();
    path = by;
    events = of;
    timer_place = place;
    timed = known_to_timer;
  }
  void add(FlightSlot& slot) {
    all.push_back(&slot);
    if (slot.failure == nullptr) live.push_back(&slot);
  }
  /// Fails all tiles that have not failed already.
  void fail(std::shared_ptr<Failure const> const& why) noexcept;
  /// True if one of them has failed.
  bool has_failed() const noexcept;
  /// Takes failed tiles from those that live.
  void drop_failed() noexcept;
};

/// Gives the steps of a batch to the device: upload, stage and download of tiles that are copied, the stage alone of
/// those that are mapped.
///
/// Invariant: a tile that fails by itself takes part in no later step, and the others of its batch in all.
/// Threads:   the lane's. It allocates only when it is made.
class BatchEnqueuer {
 public:
  /// `timer`: null, if nothing records. All that is given outlives it.
  BatchEnqueuer(Device& device, TileShape shape, FlightOptions const& options, LaneStreams& streams, PathChooser& paths,
                StepTimer* timer);

  /// Makes what else the work of this stage needs. Call it once, before the first tile.
  ///
  /// Throws: Error, if the device refuses.
  void prepare(Stage const& stage);
  /// Enqueues each step of all tiles before the next step of any, neighbours in the pool as one copy. `at` is then the
  /// name of the step that was last begun.
  ///
  /// Shape:  a tile lives.
  /// Throws: Error, and what the stage throws; some steps may be enqueued all the same.
  void enqueue_copied(FlightBatch& batch, Stage& stage, char const*& at);
  /// Enqueues the stage alone, which sees the tiles themselves.
  ///
  /// Shape, Throws: as enqueue_copied.
  void enqueue_mapped(FlightBatch& batch, Stage& stage);

  /// Copies that the device was asked for, of both directions: neighbours count as one.
  std::uint64_t copies() const noexcept { return asked_copies_; }
  /// Tiles that were mapped.
  std::uint64_t mapped() const noexcept { return mapped_tiles_; }
  /// The outcome of the stage's promise to be capturable.
  GraphCapture const& graphs() const noexcept { return graphs_; }
  /// True once the device did not end a step in time, if it is waited for after each (FlightOptions::step_by_step).
  bool out_of_patience() const noexcept { return out_of_patience_; }

 private:
  void map(FlightBatch& batch, Stage const& stage);
  void upload(FlightBatch const& batch, StreamRef stream, std::size_t which);
  void download(FlightBatch const& batch);
  void compute(FlightBatch& batch, Stage& stage);
  void run(FlightSlot& slot, DeviceTile const& seen, Stage& stage);
  void accept(FlightSlot& slot, std::size_t produced) const;
  void settle(StreamRef stream);
  void mark(FlightBatch const& batch, Step step, StreamRef stream);

  Device& device_;
  TileShape const shape_;
  Transport const transport_;
  bool const step_by_step_;
  std::vector<std::size_t> const more_inputs_;  ///< Inputs that tiles have: 1 for the second, and so on.
  LaneStreams& streams_;
  PathChooser& paths_;
  StepTimer* const timer_;
  GraphCapture graphs_;
  std::uint64_t asked_copies_ = 0;
  std::uint64_t mapped_tiles_ = 0;
  bool out_of_patience_ = false;

  // State of the batch that is being enqueued.
  std::vector<Copy> copies_;
  std::vector<DeviceTile> seen_;
  std::vector<std::size_t> produced_;
};

}  // namespace penstock
