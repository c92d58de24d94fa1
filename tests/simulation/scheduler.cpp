// SPDX-License-Identifier: Apache-2.0
#include "simulation/scheduler.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "chaos/draw.hpp"
#include "simulation/fiber.hpp"
#include "simulation/process.hpp"

// The linker's: where the program begins and ends.
extern "C" char const __executable_start, _end;

namespace penstock::simulation {

using chaos::Draw;

namespace {

/// No scenario needs a tenth of them.
constexpr std::uint64_t most_operations = 50'000'000;
/// Time of a call of the system, beside that of an operation.
constexpr std::uint64_t nanoseconds_of_call = 100;
/// Fibers wait for the clock after so many yields of each that can run, with nothing else between.
constexpr std::uint64_t idle_yields = 50;
/// A turn mostly ends after so many operations where no place is one at which turns end.
constexpr std::uint64_t longest_turn = 1'000;
/// A timeout is late by up to so much.
constexpr std::uint64_t most_lateness = 60'000;

void wake_expired() noexcept {
  std::uint64_t const time = time_now();
  if (time < process.next_deadline) return;
  process.next_deadline = Fiber::never;
  for (std::uint32_t i = 0; i < process.waiting.size();) {
    Fiber& fiber = process.waiting[i];
    if (fiber.deadline > time) {
      process.next_deadline = std::min(process.next_deadline, fiber.deadline);
      ++i;
      continue;
    }
    process.waiting.remove(fiber);
    fiber.timed_out = true;
    make_runnable(fiber);
  }
}

void let_stopped_go_on() noexcept {
  make_runnable(*std::exchange(process.stopped, nullptr));
}

/// Returns the distance from the beginning of the program; 0 in libraries, which lie elsewhere each time.
std::uint64_t offset_of(void const* site) noexcept {
  auto const at = reinterpret_cast<std::uintptr_t>(site), begin = reinterpret_cast<std::uintptr_t>(&__executable_start);
  return at >= begin && at < reinterpret_cast<std::uintptr_t>(&_end) ? at - begin : 0;
}

Fiber& any_but(Fiber const* left_out) noexcept {
  auto const& runnable = process.runnable;
  Fiber& first = runnable[process.draw.below(runnable.size())];
  if (&first != left_out || runnable.size() == 1) return first;
  return runnable[(first.place + 1 + process.draw.below(runnable.size() - 1)) % runnable.size()];
}

Fiber& choose(Fiber const* left_out) noexcept {
  if (process.schedule.turns != Turns::ranks) return any_but(left_out);
  return **std::max_element(process.runnable.begin(), process.runnable.end(), [](Fiber const* a, Fiber const* b) {
    return std::pair(a->rank, b->number) < std::pair(b->rank, a->number);
  });
}

bool is_chosen(void const* site) noexcept {
  return Draw(process.schedule.seed ^ offset_of(site)).one_in(process.schedule.sites);
}

}  // namespace

void start_turn() noexcept {
  auto const& schedule = process.schedule;
  if (process.over) return void(turn_end = Fiber::never);
  switch (schedule.turns) {
    case Turns::calm:
      turn_end = Fiber::never;
      break;
    case Turns::sites:
      turn_end = ticks + 1;
      break;
    default:
      turn_end = ticks + process.draw.between(1, 2 * schedule.mean);
  }
}

void make_runnable(Fiber& fiber) noexcept {
  fiber.state = Fiber::State::runnable;
  process.runnable.add(fiber);
  process.yields = 0;
}

void go_to(Fiber& next, char const* why, void const* site) noexcept {
  Fiber& from = *process.current;
  auto const mix = [](std::uint64_t value) { process.ended.digest = Draw(process.ended.digest ^ value).next(); };
  mix(ticks);
  mix(time_now());
  mix(std::uint64_t{from.number} << 32 | next.number);
  ++process.ended.switches;
  if (process.trace) {
    std::printf("%10llu ns %8llu  %u %s -> %u %s  %s +0x%llx\n", static_cast<unsigned long long>(time_now()),
                static_cast<unsigned long long>(ticks), from.number, from.name.data(), next.number, next.name.data(),
                why, static_cast<unsigned long long>(offset_of(site)));
  }
  process.current = &next;
  switch_fiber(from, next);
  show_stack_if_asked(from);
}

void end_turn(void const* site) noexcept {
  if (process.over) return void(turn_end = Fiber::never);
  if (ticks > most_operations) give_up("it computes without an end");
  Fiber& here = *process.current;
  if (process.stopped != nullptr && process.stopped->stopped_until <= ticks) let_stopped_go_on();
  wake_expired();
  start_turn();
  auto const& schedule = process.schedule;
  if (schedule.turns == Turns::sites && !is_chosen(site) && !process.draw.one_in(longest_turn)) return;
  if (process.runnable.size() == 1) return;
  if (schedule.turns == Turns::ranks) {
    here.rank = process.draw.next() | least_rank;
    any_but(&here).rank = process.draw.next() | least_rank;  // It may have yielded long ago.
  }
  if (schedule.stops != 0 && process.stopped == nullptr && process.draw.one_in(schedule.stops)) {
    process.runnable.remove(here);
    here.state = Fiber::State::stopped;
    here.stopped_until = ticks + process.draw.of_any_size(schedule.stop_bits);
    process.stopped = &here;
  }
  Fiber& next = choose(&here);
  if (&next != &here) go_to(next, "turn", site);
}

void leave(char const* why, void const* site) noexcept {
  process.yields = 0;
  if (process.stopped != nullptr && process.stopped->stopped_until <= ticks) let_stopped_go_on();
  wake_expired();
  while (process.runnable.empty()) {
    bool const timeout = process.next_deadline != Fiber::never;
    if (process.stopped != nullptr && (!timeout || process.draw.one_in(2))) {
      let_stopped_go_on();
    } else if (timeout) {
      process.time += process.next_deadline - std::min(time_now(), process.next_deadline);
      process.time += process.draw.below(most_lateness);
      wake_expired();
    } else {
      give_up("it hangs: no thread can go on");
    }
  }
  start_turn();
  Fiber& next = choose(nullptr);
  if (&next != process.current) go_to(next, why, site);
}

bool sleep_on(void const* key, char const* what, std::uint64_t deadline) noexcept {
  Fiber& here = *process.current;
  process.runnable.remove(here);
  here.state = Fiber::State::waiting;
  here.timed_out = false;
  here.key = key;
  here.waits_for = what;
  here.deadline = deadline;
  process.waiting.add(here);
  process.next_deadline = std::min(process.next_deadline, deadline);
  leave(what, __builtin_return_address(0));
  return !here.timed_out;
}

unsigned wake(void const* key, unsigned most) noexcept {
  std::array<Fiber*, most_fibers> found;
  std::size_t count = 0;
  for (Fiber* const fiber : process.waiting) {
    if (fiber->key == key) found[count++] = fiber;
  }
  unsigned woken = 0;
  for (; woken < most && count > 0; ++woken) {
    std::size_t const drawn = count == 1 ? 0 : process.draw.below(count);
    Fiber& fiber = *std::exchange(found[drawn], found[count - 1]);
    --count;
    process.waiting.remove(fiber);
    make_runnable(fiber);
  }
  return woken;
}

void yield() noexcept {
  ++ticks;
  process.time += nanoseconds_of_call;
  if (ticks > most_operations) give_up("it computes without an end");
  Fiber& here = *process.current;
  // Those that can run only wait: for one that cannot, or for the clock.
  if (++process.yields > idle_yields * process.runnable.size()) {
    process.yields = 0;
    if (process.stopped != nullptr) {
      let_stopped_go_on();
    } else if (process.next_deadline != Fiber::never) {
      process.time += process.next_deadline - std::min(time_now(), process.next_deadline);
    }
  }
  if (process.stopped != nullptr && process.stopped->stopped_until <= ticks) let_stopped_go_on();
  wake_expired();
  if (process.runnable.size() == 1) return;
  here.rank = --process.lowest_rank;
  start_turn();
  Fiber& next = choose(&here);
  if (&next != &here) go_to(next, "yield", __builtin_return_address(0));
}

std::uint64_t now() noexcept {
  process.time += nanoseconds_of_call / 4;
  return time_now();
}

}  // namespace penstock::simulation
