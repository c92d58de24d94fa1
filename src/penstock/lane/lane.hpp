// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "penstock/core/completion.hpp"
#include "penstock/core/event_count.hpp"
#include "penstock/core/mailbox.hpp"
#include "penstock/core/ranges.hpp"
#include "penstock/device/device.hpp"
#include "penstock/device/signal.hpp"
#include "penstock/lane/end_latch.hpp"
#include "penstock/lane/flight.hpp"
#include "penstock/lane/intake.hpp"
#include "penstock/lane/lane_summary.hpp"
#include "penstock/lane/pace.hpp"
#include "penstock/lane/patience.hpp"
#include "penstock/lane/signal_kind.hpp"
#include "penstock/lane/stage.hpp"
#include "penstock/machine/bound_thread.hpp"
#include "penstock/machine/cpu_set.hpp"

namespace penstock {

struct LaneOptions {
  FlightOptions flight = {};
  /// The most tiles that the lane puts on the device at once: as one copy where they are neighbours in the pool, with
  /// one set of events and one ticket. While the device has half of the slots to work on, a tile waits for its block:
  /// so many tiles of the pool make a block, from the pool's first tile on. But at most four whole blocks pass the one
  /// that has waited longest. A batch is never more than half of the slots, so that one comes while another goes.
  /// Beyond 1 MiB it has one tile for every 32 tiles in a row, so that short runs do not wait for large batches.
  unsigned batch = 1;
  SignalKind signal = SignalKind::callback;
  /// How long a lane with nothing to do spins and watches its device before it sleeps: results sooner, for part of a
  /// core. With a signal that brings no tickets (event_poll, flag) it spins as long as any tile is in flight; or, if
  /// this is 0, it looks every 50 us. But while more than half of the slots are full and hold enough work, it sleeps
  /// instead, at least 50 us at a time, mostly no more than 1 ms, and only `cancel` and `close` wake it. 200 us of work
  /// are enough, if they are 50 us more than half of the slots would hold, by the pace of what came back
  /// (decisions/0026).
  std::chrono::nanoseconds spin{0};
  /// How long a lane with tiles in flight sleeps before it asks the device itself, in case a signal was lost.
  std::chrono::nanoseconds watchdog = std::chrono::milliseconds(50);
  /// The lane waits for the ends of these lanes before it frees anything; null for none. All must be closed at once.
  std::shared_ptr<EndLatch> ends_with = {};
  Ranges* ranges = nullptr;  ///< Is told when the lane gives a tile to its device; may be null. It outlives the lane.
  std::string name = "ps-lane-0";
  CpuSet cpus = {};  ///< Where its thread may run; empty for anywhere.
};

/// For LaneOptions::spin, this or longer: the lane never sleeps, whatever its device has to do.
inline constexpr std::chrono::nanoseconds spin_for_ever = std::chrono::hours(1);

/// A lane gets news of its device here: tickets, and a bell that is rung for each. It may outlive the lane, kept by a
/// device that was abandoned.
struct LanePost {
  explicit LanePost(std::size_t capacity) : tickets(capacity) {}
  Mailbox<Ticket> tickets;
  EventCount bell;
};

/// How far a lane is in its life.
enum class LaneAge : std::uint8_t {
  serves,
  settled,  ///< It has nothing on its device any more and will put nothing there; what it has there is not yet freed.
  ended,    ///< Its thread touches nothing any more.
};

/// A bound thread with two mailboxes (tiles in, tickets in), the streams that only it touches, the slots it fills, and
/// a FIFO of what is in flight. While it has a free slot and a tile to put there, it waits only if the device has
/// enough to do: to make a batch whole, and to let its core go.
///
/// Each tile submitted gets exactly one Completion, whatever fails. Once the device is lost the lane fails all it holds
/// and all it gets. A device that finishes no tile for FlightOptions::patience is abandoned: tiles that it may still
/// write to are stranded, and come with their completions all the same.
///
/// Threads: the one that made it, except where noted.
class Lane {
 public:
  /// Called on the lane's thread, once per tile: those that went to the device batch by batch in the order the lane
  /// took them; cancelled ones at once. Must not throw.
  using OnCompletion = std::function<void(Completion)>;

  /// Starts the thread, makes streams, slots and stage, and returns when the lane is ready for tiles.
  ///
  /// Blocks: until then.
  /// Throws: Error, if the device has too little memory or refuses, or if all is to be mapped and the stage does not
  /// promise that it passes over a tile once; and what `stages.make` throws.
  Lane(Device& device, TileShape shape, std::size_t most_tiles, LaneOptions options, unsigned number,
       Stages const& stages, OnCompletion on_completion);
  Lane(Lane const&) = delete;
  Lane& operator=(Lane const&) = delete;
  /// Cancels what has not started, waits for the rest.
  ///
  /// Blocks: until then.
  ~Lane();

  /// Hands a tile over, of the one pool that the lane serves, which has no more than `most_tiles`. False for a tile
  /// beyond these, and once the lane is closed; the loan is then still the caller's.
  ///
  /// Threads: any.
  /// Blocks:  never.
  bool submit(Loan& loan) noexcept;
  /// Tiles handed over and not yet completed.
  ///
  /// Threads: any.
  std::size_t load() const noexcept { return load_.load(std::memory_order_relaxed); }
  /// True once its device no longer serves any tile.
  ///
  /// Threads: any.
  bool lost() const noexcept { return lost_.load(std::memory_order_seq_cst); }
  /// From now on no tile is started, not even one from the inbox: each is completed as cancelled.
  ///
  /// Threads: any.
  /// Blocks:  never.
  void cancel() noexcept;
  /// No more tiles will come soon: from now on no tile of the lane waits for more tiles.
  ///
  /// Threads: any.
  /// Blocks:  never.
  void hurry() noexcept;
  /// Takes no more tiles; once it has completed all it has it finishes the stage and ends.
  ///
  /// Threads: any.
  /// Blocks:  never.
  void stop_taking() noexcept;
  /// `stop_taking`, and waits for the end.
  ///
  /// Threads: one.
  /// Blocks:  until then.
  void close();
  /// Waits until the lane is at this age: soon after `stop_taking`, unless it waits for lanes to which it is tied.
  ///
  /// Threads: any but its own.
  /// Blocks:  until then.
  void await(LaneAge age) noexcept;
  /// True on the lane's own thread.
  bool is_this_thread() const noexcept {
    return thread_id_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  Device const& device() const noexcept { return device_; }
  /// Only once closed: the finished stage; null if the device was lost before, or its finish failed.
  Stage* finished_stage() const noexcept { return finished_ ? stage_.get() : nullptr; }
  /// Only once closed: why the stage's finish failed, if it did.
  std::shared_ptr<Failure const> finish_failure() const noexcept { return finish_failure_; }
  /// Why its thread is not bound as asked, in words.
  std::optional<std::string> const& binding_error() const noexcept { return thread_.binding_error(); }
  /// Only once closed: what it did.
  LaneSummary summary() const noexcept { return summary_; }

 private:
  void body(std::promise<void>& ready, Stages const& stages);
  void grow(LaneAge age) noexcept;
  void serve_to_the_end();
  void serve();
  template <class Predicate>
  bool watch(Predicate const& work_waits);
  void look();
  bool must_not_nap() const noexcept;
  std::chrono::nanoseconds time_to_nap(std::chrono::steady_clock::time_point now) const noexcept;
  template <class Predicate>
  void rest(Predicate const& work_waits);
  bool read_tickets();
  bool take_tiles();
  DeviceRoom room() const noexcept;
  /// What a device has enough to do with.
  std::size_t half_of_slots() const noexcept { return (std::size_t{options_.flight.slots} + 1) / 2; }
  bool turns_away() const noexcept;
  void turn_away(bool cancelled);
  std::uint64_t spokesman() const noexcept;
  void put();
  void note_taken(std::chrono::steady_clock::time_point taken) const;
  void tell_signal();
  void arm_signal();
  void ask_unsignalled();
  void ask_device();
  void retire_up_to(std::uint64_t number);
  void note_pace() noexcept;
  void retire_passed();
  void finish_stage();
  void give_up(Error const& error);
  void lose(Error const& error);
  void note_finish_failure() noexcept;
  void note_loss(char const* what, char const* words) noexcept;
  void leave_behind();
  void fail_all_in_flight(std::shared_ptr<Failure const> why);
  void deliver(Completion completion) noexcept;

  Device& device_;
  TileShape const shape_;
  LaneOptions const options_;
  unsigned const number_;
  OnCompletion const on_completion_;

  std::size_t const most_tiles_;

  // Shared with other threads.
  Intake intake_;
  std::shared_ptr<LanePost> const post_;
  Mailbox<Ticket>& tickets_;
  EventCount& bell_;
  std::shared_ptr<Failure const> const speechless_;  ///< Used if there is no memory for another.
  EventCount alarm_;                                 ///< Ends a nap.
  std::atomic<std::size_t> load_{0};
  std::atomic<bool> lost_{false};
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> hurried_{false};
  std::atomic<bool> closed_{false};
  std::atomic<LaneAge> age_{LaneAge::serves};
  EventCount aged_;
  std::atomic<std::thread::id> thread_id_{};

  // The lane's thread only.
  std::uint32_t row_ = 0;        ///< Where a recorder is told what this thread does.
  std::uint32_t queue_row_ = 0;  ///< And how long tiles wait for it.
  std::unique_ptr<Flight> flight_;
  std::unique_ptr<Signal> signal_;
  std::unique_ptr<Stage> stage_;
  std::shared_ptr<Failure const> loss_;
  std::vector<Loan> batch_;            ///< What is being put.
  std::vector<Tile const*> recorded_;  ///< The batch that is being put, for a recorder.
  bool unsignalled_ = false;           ///< It retires what its watchdog found.
  std::uint64_t news_ = 0;             ///< How often it heard something since it last rested.
  std::chrono::steady_clock::time_point asked_ =
      std::chrono::steady_clock::now();  ///< When it last knew how its device was.
  /// When the device last finished a tile, or got one while it had none.
  std::chrono::steady_clock::time_point progress_ = asked_;
  Patience patience_{options_.flight.patience, options_.watchdog, progress_};
  Pace pace_;
  std::uint64_t paced_ = 0;                                     ///< Tiles that `pace_` knows of, or never will.
  std::chrono::steady_clock::time_point paced_at_ = progress_;  ///< And when the last of them was through.
  LaneSummary summary_;
  std::chrono::steady_clock::time_point serves_since_;  ///< When the first batch was put.
  bool finished_ = false;
  std::shared_ptr<Failure const> finish_failure_;

  BoundThread thread_;
};

}  // namespace penstock
