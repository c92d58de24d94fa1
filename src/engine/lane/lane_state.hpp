// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/core/event_count.hpp"
#include "engine/core/mailbox.hpp"
#include "engine/lane/signal.hpp"

namespace penstock {

/// Lanes of one device wait here at their ends until no lane needs the device any more.
///
/// On a GPU, a call that frees memory waits for all work of the device. A lane that frees its memory while the kernel
/// of another lane does not end would wait for ever. So each lane comes here first, when it is idle or has
/// abandoned the device.
///
/// Threads: the lanes'.
class EndLatch {
 public:
  EndLatch() = default;
  EndLatch(EndLatch const&) = delete;
  EndLatch& operator=(EndLatch const&) = delete;

  /// Says that there is one lane more to wait for.
  void join() noexcept { busy_.fetch_add(1, std::memory_order_relaxed); }
  /// Says that this lane no longer needs the device, and waits for the others.
  ///
  /// Blocks: until each that joined has come here.
  void leave() noexcept {
    // Release, and acquire below: a lane that then frees sees what the others did, such as abandon the device.
    busy_.fetch_sub(1, std::memory_order_acq_rel);
    all_left_.notify();
    all_left_.await([this] { return busy_.load(std::memory_order_acquire) == 0; });
  }

 private:
  std::atomic<std::size_t> busy_{0};
  EventCount all_left_;
};

/// A lane gets news of its device here: tickets, and a bell that is rung for each. It may outlive the lane, kept by a
/// device that was abandoned.
struct LanePost {
  explicit LanePost(std::size_t capacity) : tickets(capacity) {}
  Mailbox<Ticket> tickets;
  EventCount bell;
};

/// Phases of a lane's life.
enum class LaneAge : std::uint8_t {
  serves,
  idle,   ///< It has nothing on its device any more and will put nothing there; what it has there is not yet freed.
  ended,  ///< Its thread touches nothing any more.
};

/// News between a lane's thread and others, beside tiles and tickets.
///
/// Invariant: what is said stays said: a lane that is cancelled, closed or lost is so for ever, and ages only. Each
///            word to the lane is written before the bell is rung for it.
/// Threads:   any says and asks, except where noted.
/// Blocks:    never, except where noted.
class LaneState {
 public:
  /// `bell` wakes the lane's thread; it outlives this.
  explicit LaneState(EventCount& bell) noexcept : bell_(bell) {}
  LaneState(LaneState const&) = delete;
  LaneState& operator=(LaneState const&) = delete;

  /// Counts a tile that is handed over, before it is looked whether the lane is closed: a closed lane ends only once
  /// its count is 0, so a tile that finds it open is still served.
  void count_in() noexcept { load_.fetch_add(1, std::memory_order_seq_cst); }
  /// The tile is completed, or was not taken.
  void count_out() noexcept { load_.fetch_sub(1, std::memory_order_seq_cst); }
  std::size_t load() const noexcept { return load_.load(std::memory_order_relaxed); }

  /// From now on no tile is started.
  void cancel() noexcept {
    cancelled_.store(true, std::memory_order_release);
    bell_.notify();
    alarm_.notify();
  }
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
  /// No more tiles come soon.
  void flush() noexcept {
    flushed_.store(true, std::memory_order_release);
    bell_.notify();
  }
  /// No more tiles are taken.
  void close() noexcept {
    closed_.store(true, std::memory_order_seq_cst);
    bell_.notify();
    alarm_.notify();
  }
  bool closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }
  /// True if no more tiles come soon.
  bool ending() const noexcept {
    return flushed_.load(std::memory_order_acquire) || closed_.load(std::memory_order_acquire);
  }
  /// True if no tile is left and none will come.
  bool served_all() const noexcept {
    return closed_.load(std::memory_order_seq_cst) && load_.load(std::memory_order_seq_cst) == 0;
  }
  /// True if the lane has to be awake for the end of its work.
  bool must_not_nap() const noexcept { return closed_.load(std::memory_order_acquire) || cancelled(); }
  /// Sleeps for `length`, or until the lane must not.
  ///
  /// Threads: the lane's.
  /// Blocks:  until then.
  void nap(std::chrono::nanoseconds length) noexcept {
    alarm_.await([this] { return must_not_nap(); }, std::chrono::nanoseconds(0), length);
  }

  /// The lane's device serves no tile any more. One order for all threads: of two lanes that lose their devices at
  /// once, at least one sees both lost.
  void lose() noexcept { lost_.store(true, std::memory_order_seq_cst); }
  bool lost() const noexcept { return lost_.load(std::memory_order_seq_cst); }

  /// The lane is at this age now, which is no less than before.
  void grow(LaneAge age) noexcept {
    age_.store(age, std::memory_order_release);
    aged_.notify();
  }
  /// Blocks: until the lane is at this age.
  void await(LaneAge age) noexcept {
    // Acquire: this thread sees what the lane did until then.
    aged_.await([&] { return age_.load(std::memory_order_acquire) >= age; });
  }

 private:
  EventCount& bell_;
  EventCount alarm_;  ///< Ends a nap.
  std::atomic<std::size_t> load_{0};
  std::atomic<bool> lost_{false};
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> flushed_{false};
  std::atomic<bool> closed_{false};
  std::atomic<LaneAge> age_{LaneAge::serves};
  EventCount aged_;
};

}  // namespace penstock
