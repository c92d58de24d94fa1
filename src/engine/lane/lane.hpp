// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/lane/device_queue.hpp"
#include "engine/lane/intake.hpp"
#include "engine/lane/lane_options.hpp"
#include "engine/lane/lane_state.hpp"
#include "engine/machine/bound_thread.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/report.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

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
  /// Called on the lane's thread, once per tile. Must not throw.
  using OnCompletion = std::function<void(Completion)>;

  /// Starts the thread, makes streams, slots and stage, and returns when the lane is ready for tiles.
  ///
  /// `completions`, which outlives the lane, gets tiles that went to the device batch by batch in the order the lane
  /// took them; cancelled ones at once.
  ///
  /// Blocks: until then.
  /// Throws: Error, if the device has too little memory or refuses, or if all is to be mapped and the stage does not
  /// promise that it passes over a tile once; and what `stages.make` throws.
  Lane(Device& device, TileShape shape, std::size_t most_tiles, LaneOptions options, unsigned number,
       Stages const& stages, CompletionTaker& completions)
      : Lane(device, shape, most_tiles, std::move(options), number, stages, std::nullopt, &completions) {}
  /// Makes the same lane for a function.
  Lane(Device& device, TileShape shape, std::size_t most_tiles, LaneOptions options, unsigned number,
       Stages const& stages, OnCompletion on_completion)
      : Lane(device, shape, most_tiles, std::move(options), number, stages,
             CompletionFunction(std::move(on_completion)), nullptr) {}
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
  std::size_t load() const noexcept { return state_.load(); }
  /// True once its device no longer serves any tile.
  ///
  /// Threads: any.
  bool lost() const noexcept { return state_.lost(); }
  /// From now on no tile is started, not even one from the inbox: each is completed as cancelled.
  ///
  /// Threads: any.
  /// Blocks:  never.
  void cancel() noexcept { state_.cancel(); }
  /// No more tiles will come soon: from now on no tile of the lane waits for more tiles.
  ///
  /// Threads: any.
  /// Blocks:  never.
  void flush() noexcept { state_.flush(); }
  /// Has it look whether its bringer is ready.
  ///
  /// Threads: any.
  /// Blocks:  never.
  void wake() noexcept { bell_.notify(); }
  /// Takes no more tiles; once it has completed all it has it finishes the stage and ends.
  ///
  /// Threads: any.
  /// Blocks:  never.
  void stop_taking() noexcept { state_.close(); }
  /// Calls `stop_taking`, and waits for the end.
  ///
  /// Threads: one.
  /// Blocks:  until then.
  void close();
  /// Waits until the lane is at this age: soon after `stop_taking`, unless it waits for lanes to which it is tied.
  ///
  /// Threads: any but its own.
  /// Blocks:  until then.
  void await(LaneAge age) noexcept { state_.await(age); }
  /// For a thread that ends the process, once the lane takes no more tiles: if the lane is bringing a tile, it is left
  /// behind, and goes no further when it comes back.
  ///
  /// Threads: any.
  /// Blocks:  never.
  void leave_behind() noexcept;
  /// Abandons the device, for a thread that ends the process from within a kernel: that kernel does not end.
  ///
  /// Threads: any.
  void abandon_device() noexcept;
  bool left_behind() const noexcept { return bringing_.load(std::memory_order_seq_cst) == Bringing::left_behind; }
  /// True on the lane's own thread.
  bool is_this_thread() const noexcept {
    return thread_id_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  Device const& device() const noexcept { return device_; }
  /// The finished stage, once closed; null if the device was lost before, or its finish failed.
  Stage* finished_stage() const noexcept { return finished_ ? stage_.get() : nullptr; }
  /// The reason why the stage's finish failed, if it did; only once closed.
  std::shared_ptr<Failure const> finish_failure() const noexcept { return finish_failure_; }
  /// The CPUs that its thread is bound to.
  CpuSet const& bound_to() const noexcept { return thread_.bound_to(); }
  /// The reason, in words, why its thread is not bound as asked.
  std::optional<std::string> const& binding_error() const noexcept { return thread_.binding_error(); }
  /// Summary of what it did; only once closed.
  LaneSummary summary() const noexcept;
  /// Counts of what it has done so far and of the tiles that wait for it, without its device.
  ///
  /// Threads: any.
  LaneSnapshot snapshot() const noexcept;

 private:
  Lane(Device& device, TileShape shape, std::size_t most_tiles, LaneOptions options, unsigned number,
       Stages const& stages, std::optional<CompletionFunction> function, CompletionTaker* completions);
  void body(std::promise<void>& ready, Stages const& stages);
  void open(Stages const& stages);
  void serve_to_the_end();
  void serve();
  bool take_tiles();
  bool bring();
  void bring_no_more() noexcept;
  template <class Predicate>
  bool watch(Predicate const& work_waits);
  template <class Predicate>
  void rest(Predicate const& work_waits);
  DeviceRoom room() const noexcept;
  bool turns_away() const noexcept;
  void finish_stage();
  void let_go();

  Device& device_;
  TileShape const shape_;
  LaneOptions const options_;
  unsigned const number_;
  std::optional<CompletionFunction> function_;  ///< Set if it was made for one.
  std::size_t const most_tiles_;

  // Shared with other threads.
  std::shared_ptr<LanePost> const post_;
  EventCount& bell_;
  LaneState state_;
  Intake intake_;  ///< Its inbox; the rest is the lane's thread's.
  enum class Bringing : std::uint8_t { no, yes, left_behind };
  std::atomic<Bringing> bringing_{Bringing::no};
  std::atomic<std::thread::id> thread_id_{};

  // The lane's thread only.
  LaneSummary summary_;
  DeviceQueue queue_;
  std::unique_ptr<Stage> stage_;
  std::vector<Loan> batch_;         ///< The batch that is being put.
  Clock::time_point serves_since_;  ///< Time at which the first batch was put.
  bool brings_;                     ///< It has a bringer, and has not left that.
  bool finished_ = false;
  std::shared_ptr<Failure const> finish_failure_;

  BoundThread thread_;
};

}  // namespace penstock
