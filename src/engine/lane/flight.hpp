// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/device/work_failure.hpp"
#include "engine/lane/batch_enqueuer.hpp"
#include "engine/lane/lane_options.hpp"
#include "engine/lane/lane_streams.hpp"
#include "engine/lane/path_chooser.hpp"
#include "engine/lane/step_timer.hpp"
#include "penstock/device.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// The part of a lane on its device: its streams, the slots, and in them the tiles in flight, oldest first.
///
/// Invariant: tiles are numbered from 1 in the order they were put, and retired in that order. A slot is used
///            again only when its tile was retired, so no copy or kernel of a later tile can meet one of an earlier.
///            `landed` of a tile is recorded behind all that the device does for it, also if only some of its steps
///            were enqueued.
/// Threads:   the lane's.
class Flight {
 public:
  /// Throws: Error, if the device has no memory for all slots; the text says what to reduce.
  Flight(Device& device, TileShape shape, FlightOptions options);
  Flight(Flight const&) = delete;
  Flight& operator=(Flight const&) = delete;
  /// Blocks: until the device has let go of every slot, or is lost.
  ~Flight();

  StreamRef compute() const noexcept { return streams_.compute(); }
  std::size_t size() const noexcept { return static_cast<std::size_t>(put_ - retired_); }
  bool empty() const noexcept { return put_ == retired_; }
  /// Number of tiles that can be put.
  std::size_t room() const noexcept { return slots_.size() - size(); }
  /// The number of the youngest tile in flight, or of the last that was.
  std::uint64_t youngest() const noexcept { return put_; }
  std::uint64_t retired() const noexcept { return retired_; }
  /// Copies that the device was asked for, of both directions: neighbours count as one.
  std::uint64_t copies() const noexcept { return enqueuer_.copies(); }
  /// Tiles that were mapped.
  std::uint64_t mapped() const noexcept { return enqueuer_.mapped(); }
  /// The outcome of the stage's promise to be capturable.
  GraphCapture const& graphs() const noexcept { return enqueuer_.graphs(); }

  /// Makes what else this stage's work needs, so that tiles do not wait for it. Call it once, before the first tile.
  ///
  /// Throws: Error, if the device refuses.
  void prepare(Stage const& stage) { enqueuer_.prepare(stage); }
  /// Enqueues upload, stage and download of some tiles as one batch: each step of all of them before the next step of
  /// any, neighbours in the pool as one copy, and all with one set of events; or, where they are mapped, only the
  /// stage. What fails with one tile alone is kept with it, and it retires as failed once the device has let go of its
  /// slot.
  ///
  /// Shape:  1 to `room()` loans, which are taken; best in the order of the pool.
  /// Throws: a sticky Error; the tiles are in flight all the same.
  void put(std::span<Loan> loans, Stage& stage);
  /// The stream of the last step of the tiles that were put last.
  StreamRef last_stream() const noexcept { return streams_.last(batch_.path); }
  /// The event behind the tiles that were put last.
  EventRef landed() const { return batch_.events->landed; }
  /// True if the device has let go of tile `number` and all before it.
  ///
  /// Throws: a sticky Error.
  bool passed(std::uint64_t number) const;
  /// Abandons the device, which has finished no tile for `patience`. The oldest tile that the device has not passed
  /// fails at the step where it stands, if that is known, unless it has a failure of its own. Returns the reason, for
  /// all other tiles.
  Error run_out_of_patience();
  /// Waits until the device, even a lost one, no longer touches any of the tiles. A device that takes longer than
  /// `patience` for any of them is abandoned.
  ///
  /// Blocks: until the device has passed all that was put in, or any thread has abandoned it.
  void wait_idle() noexcept;
  /// Has the stage enqueue what brings its own result home, and waits until the device has passed all that is in the
  /// compute stream, but no longer than `patience`: then it is abandoned.
  ///
  /// Blocks: until then.
  /// Throws: what the stage throws, or its kernels; Error, if the device refused a launch or was lost.
  void finish(Stage& stage);
  /// Keeps a lost device from calling back from the lane's streams, as StreamRef::drop_calls.
  void drop_calls() const { streams_.drop_calls(); }
  /// Takes the oldest tile out. If `loss` is set that is why it failed, unless it has a failure of its own.
  Completion retire(std::shared_ptr<Failure const> const& loss = {});

 private:
  FlightSlot& slot_of(std::uint64_t number) const { return *slots_[number % slots_.size()]; }
  std::uint64_t first_not_passed() const noexcept;
  void place(std::span<Loan> loans, TransferPath path);
  void look_at_zones(FlightSlot& slot) const noexcept;
  void seal(bool enqueued);
  void note_thrown(FlightSlot& slot) const noexcept;
  void note_times(std::uint64_t oldest, bool lost) noexcept;

  Device& device_;
  std::chrono::nanoseconds const patience_;
  unsigned const lane_;
  std::span<std::unique_ptr<RunHook> const> const hooks_;
  bool const step_by_step_;
  bool const red_zones_;
  LaneStreams streams_;
  PathChooser paths_;
  DeviceMemory memory_;  ///< Memory of all slots: their inputs side by side, then their outputs, as in a pool.
  std::vector<std::unique_ptr<FlightSlot>> slots_;
  std::unique_ptr<StepTimer> timer_;  ///< Null, if nothing records.
  BatchEnqueuer enqueuer_;
  WorkFailure finish_work_;
  std::uint64_t put_ = 0;
  std::uint64_t retired_ = 0;
  FlightBatch batch_;                                    ///< The batch that is being put, or was put last.
  std::vector<std::optional<std::uint64_t>> sequences_;  ///< It has room for all slots, so that nothing is allocated.
};

}  // namespace penstock
