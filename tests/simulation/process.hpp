// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "chaos/draw.hpp"
#include "simulation/fiber.hpp"
#include "simulation/schedule.hpp"
#include "simulation/simulated_run.hpp"

namespace penstock::simulation {

constexpr std::size_t most_fibers = 128;
/// Ranks are drawn above it; a fiber that yields gets one below, and below all that yielded before.
constexpr std::uint64_t least_rank = std::uint64_t{1} << 63;

/// Fibers in no order of their own.
class Crowd {
 public:
  void add(Fiber& fiber) noexcept {
    fiber.place = size_;
    all_[size_++] = &fiber;
  }
  void remove(Fiber& fiber) noexcept {
    Fiber* const last = all_[--size_];
    all_[last->place = fiber.place] = last;
  }
  std::uint32_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  Fiber& operator[](std::size_t i) const noexcept { return *all_[i]; }
  Fiber* const* begin() const noexcept { return all_.data(); }
  Fiber* const* end() const noexcept { return all_.data() + size_; }

 private:
  std::array<Fiber*, most_fibers> all_{};
  std::uint32_t size_ = 0;
};

/// All that a run is, beside its stacks and its heap.
struct Process {
  chaos::Draw draw{0};
  Schedule schedule;
  std::uint64_t time = 0;  ///< Nanoseconds, without those of operations.
  std::uint64_t next_deadline = Fiber::never;
  std::uint64_t yields = 0;  ///< Yields in a row, with nothing else between.
  std::uint64_t lowest_rank = least_rank;
  std::uint32_t created = 0;
  Fiber* current = nullptr;
  Fiber* stopped = nullptr;
  Crowd runnable, waiting;
  Ended ended;
  void (*stuck)(void*, char const*) = nullptr;
  void* argument = nullptr;
  Fiber* shows_stacks = nullptr;  ///< Fiber that asks each fiber for its stack.
  bool trace = false;
  bool on = false;
  bool over = false;  ///< No turn ends any more but where its fiber waits.
};

extern Process process;
/// Scheduling points until now, and the one at which the turn of the present fiber ends. They stand apart, since
/// each atomic operation looks at them.
extern std::uint64_t ticks, turn_end;

/// Nanoseconds since the beginning of the run.
inline std::uint64_t time_now() noexcept {
  return process.time + ticks * process.schedule.nanoseconds;
}

// Requests of the run to the scheduler.

/// Draws the length of the turn that begins now.
void start_turn() noexcept;
/// Ends the turn of the calling fiber, though it could go on.
void end_turn(void const* site) noexcept;
/// The calling fiber cannot go on; perhaps it can when this returns.
void leave(char const* why, void const* site) noexcept;
void make_runnable(Fiber& fiber) noexcept;
/// Goes on with this fiber; returns when the calling one goes on.
void go_to(Fiber& next, char const* why, void const* site) noexcept;

// Requests of the scheduler to the run.

/// Says where each thread is, and ends the process.
[[noreturn]] void give_up(char const* why) noexcept;
/// If stacks are shown, shows this one, until none is asked for any more.
void show_stack_if_asked(Fiber& fiber) noexcept;

}  // namespace penstock::simulation
