// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/lane/completion_taker.hpp"
#include "engine/lane/flight.hpp"
#include "engine/lane/intake.hpp"
#include "engine/lane/lane_counts.hpp"
#include "engine/lane/lane_options.hpp"
#include "engine/lane/lane_state.hpp"
#include "engine/lane/lookout.hpp"
#include "engine/lane/signal.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/report.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// The work that a lane has given to its device, and what the lane hears of it: batches go in at one end, and tiles
/// come out at the other, each with its completion.
///
/// What a signal says is a hint: a tile is retired only once the device itself says that it has passed the tile. A
/// device that refuses an answer costs the tiles in flight; one that is lost, or finishes no tile for as long as the
/// lane has patience, costs all tiles from then on.
///
/// Invariant: each tile that is put or turned away is delivered once; those that are put, in their order. Nothing is
///            put once there is a loss.
/// Threads:   the lane's; made on another, before.
class DeviceQueue {
 public:
  using Clock = penstock::Clock;
  /// All that is given outlives it, but for the post, which it shares.
  DeviceQueue(Device& device, LaneOptions const& options, unsigned number, LaneState& state,
              std::shared_ptr<LanePost> post, LaneSummary& summary, CompletionTaker& completions);
  DeviceQueue(DeviceQueue const&) = delete;
  DeviceQueue& operator=(DeviceQueue const&) = delete;

  /// Makes streams, slots and signal, for a pool of `tiles` tiles. Call it once, before all else.
  ///
  /// Throws: Error, if the device has too little memory or refuses.
  void open(TileShape shape, std::size_t tiles);
  StreamRef compute() const noexcept { return flight_->compute(); }
  /// Calls Flight::prepare.
  void prepare(Stage const& stage) { flight_->prepare(stage); }

  bool empty() const noexcept { return flight_->empty(); }
  std::size_t size() const noexcept { return flight_->size(); }
  std::size_t room() const noexcept { return flight_->room(); }
  std::uint64_t retired() const noexcept { return flight_->retired(); }
  /// Decides when to look, to sleep and to be called.
  Lookout& lookout() noexcept { return *lookout_; }
  /// Counts of what was done so far.
  ///
  /// Threads: any may read it.
  LaneCounts const& counts() const noexcept { return counts_; }
  /// The reason why the device serves no tile any more; null if it does.
  std::shared_ptr<Failure const> const& loss() const noexcept { return loss_; }

  /// Puts a batch on the device, taken from the inbox at `taken`, and has the signal tell of it. `pushed`: when each
  /// tile came, by its index; empty without a recorder.
  ///
  /// Shape: 1 to `room()` loans, which are taken.
  void put(std::span<Loan> batch, Stage& stage, std::span<Clock::time_point const> pushed);
  /// Completes tiles that never go on the device: as failed if there is a loss, else as cancelled.
  void turn_away(std::span<Loan> loans);
  /// Retires what the tickets promise, as far as the device confirms it: a ticket may come early, twice, late or not at
  /// all. True if there was any.
  bool read_tickets();
  /// Looks once how far the device is, and retires what it has passed.
  void look();
  /// Ends a look: asks the device how it is if the watchdog's time has come, and counts what was found.
  void end_look(Clock::time_point now);
  /// Makes sure that a ticket is on its way if any tile is in flight, where the signal brings tickets.
  void arm();
  /// Ends a sleep in which nothing was heard: asks for the watchdog.
  void end_sleep();

  /// Calls Flight::finish.
  void finish(Stage& stage) { flight_->finish(stage); }
  /// Ends the device for this lane: all in flight fail, once each, and so does all that still comes. `what` comes
  /// before the reason.
  void lose(char const* what, char const* reason);
  /// Waits until the device touches none of the tiles any more.
  void wait_idle() {
    if (flight_ != nullptr) flight_->wait_idle();
  }
  /// Keeps a lost device from calling back, as Flight::drop_calls.
  void drop_calls() const { flight_->drop_calls(); }
  /// Tells the summary what was done on the device.
  void sum_up() const {
    summary_.copies = flight_->copies();
    summary_.mapped = flight_->mapped();
    summary_.graphs = flight_->graphs().launched();
    summary_.not_captured = flight_->graphs().failure();
  }
  /// Frees what it has on the device. An abandoned device keeps it instead, and the stage, if there is one: what it may
  /// still touch, or call, or keep from returning.
  void let_go(std::unique_ptr<Stage> stage);

 private:
  struct CountedPut;
  std::uint64_t representative_sequence(std::span<Loan const> batch) const noexcept;
  void note_taken(Clock::time_point taken, std::span<Clock::time_point const> pushed) const;
  void ask_device();
  void ask_for(LaneCounts::By by);
  void retire_passed();
  bool retire_up_to(std::uint64_t number);
  void give_up(Error const& error);
  void note_loss(char const* what, char const* reason) noexcept;
  void fail_all_in_flight(std::shared_ptr<Failure const> why);
  /// With `more`, it is called again before anything else is.
  void deliver(Completion completion, bool more) noexcept;

  Device& device_;
  LaneOptions const& options_;
  unsigned const number_;
  LaneState& state_;
  std::shared_ptr<LanePost> const post_;
  LaneSummary& summary_;
  CompletionTaker& completions_;
  std::shared_ptr<Failure const> const speechless_;  ///< Used if there is no memory for another.

  std::uint32_t row_ = 0;        ///< Row of the recorder for what this thread does.
  std::uint32_t queue_row_ = 0;  ///< Row of the recorder for how long tiles wait for it.
  std::unique_ptr<Flight> flight_;
  std::unique_ptr<Signal> signal_;
  std::optional<Lookout> lookout_;
  std::shared_ptr<Failure const> loss_;
  std::vector<Tile const*> recorded_;              ///< The batch that is being put, for a recorder.
  LaneCounts::By asks_by_ = LaneCounts::By::look;  ///< Reason why it asks the device how far it is.
  LaneCounts counts_;
};

}  // namespace penstock
