// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulated_run.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "chaos/delays.hpp"
#include "chaos/draw.hpp"
#include "simulation/fiber.hpp"
#include "simulation/process.hpp"
#include "simulation/run_memory.hpp"
#include "simulation/scheduler.hpp"
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <unistd.h>

namespace penstock::simulation {

Process process;
std::uint64_t ticks = 0;
std::uint64_t turn_end = Fiber::never;

namespace {

/// It is not among the program's variables, since stacks are kept from run to run.
struct Table {
  std::array<Fiber, most_fibers> fibers;
  Fiber outside;
};
Table* table = nullptr;

void print_stack(Fiber const& fiber) noexcept {
  constexpr std::array states{"can run", "is stopped", "waits for ", "has ended"};
  std::fprintf(stderr, "thread %u '%s' %s%s\n", fiber.number, fiber.name.data(),
               states[static_cast<std::size_t>(fiber.state)],
               fiber.state == Fiber::State::waiting ? fiber.waits_for : "");
  std::array<void*, 40> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), frames.size()), STDERR_FILENO);
}

/// First function of a new fiber.
void enter() {
  Fiber& here = *process.current;
  show_stack_if_asked(here);
  void* const result = here.body(here.argument);
  while (here.at_end != nullptr) {
    std::unique_ptr<Fiber::AtEnd> const one(std::exchange(here.at_end, here.at_end->next));
    one->destroy(one->object);
  }
  end_fiber(result);
}

}  // namespace

void give_up(char const* why) noexcept {
  // Nothing is decided any more. What `stuck` asks for may be another fiber's, which comes back here.
  static bool told = false;
  process.over = true;
  turn_end = Fiber::never;
  std::fflush(stdout);
  if (!std::exchange(told, true)) process.stuck(process.argument, why);
  Fiber& here = *process.current;
  print_stack(here);
  process.shows_stacks = &here;
  for (Fiber& fiber : table->fibers) {
    if (&fiber != &here && fiber.number != 0 && fiber.state != Fiber::State::ended) switch_fiber(here, fiber);
  }
  std::fflush(nullptr);
  _exit(1);
}

void show_stack_if_asked(Fiber& fiber) noexcept {
  while (process.shows_stacks != nullptr) {
    print_stack(fiber);
    switch_fiber(fiber, *process.shows_stacks);
  }
}

void prepare() noexcept {
  void* const memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  table = new (memory) Table;
  find_thread_variables();
  __libc_single_threaded = false;  // The standard library would leave out what one thread does not need.
  std::array<void*, 1> frames{};
  backtrace(frames.data(), 1);  // It loads a library when it is called first.
  prepare_memory();
}

Ended run(void (*body)(void*), void* argument, void (*stuck)(void*, char const* why), bool trace) {
  reset_memory();
  for (Fiber& fiber : table->fibers) fiber.number = 0;
  struct First {
    void (*body)(void*);
    void* argument;
  } first{body, argument};
  process = {};
  ticks = 0;
  turn_end = Fiber::never;
  process.stuck = stuck;
  process.argument = argument;
  process.trace = trace;
  process.on = true;
  process.current = &table->outside;
  auto const start = [](void* given) -> void* {
    auto const all = *static_cast<First*>(given);
    all.body(all.argument);
    return nullptr;
  };
  use_heap_of_runs(true);
  go_to(*start_fiber(start, &first), "begin", nullptr);
  use_heap_of_runs(false);
  turn_end = Fiber::never;
  process.on = false;
  process.ended.operations = ticks;
  process.ended.nanoseconds = time_now();
  process.ended.fibers = process.created;
  for (Fiber const& fiber : table->fibers) process.ended.left += fiber.number > 1;
  return process.ended;
}

bool running() noexcept {
  return process.on;
}

Fiber& here() noexcept {
  return *process.current;
}

Fiber* start_fiber(void* (*body)(void*), void* argument) noexcept {
  auto const free =
      std::find_if(table->fibers.begin(), table->fibers.end(), [](Fiber const& fiber) { return fiber.number == 0; });
  if (free == table->fibers.end()) return nullptr;
  std::byte* const stack = free->stack;
  *free = Fiber{};
  free->stack = stack;
  free->body = body;
  free->argument = argument;
  free->number = ++process.created;
  free->rank = process.draw.next() | least_rank;
  free->variables.reset();
  prepare_stack(*free, enter);
  make_runnable(*free);
  return &*free;
}

Fiber* fiber_of(pthread_t number) noexcept {
  for (Fiber& fiber : table->fibers) {
    if (fiber.number == number && number != 0) return &fiber;
  }
  return nullptr;
}

void end_fiber(void* result) noexcept {
  Fiber& here = *process.current;
  process.runnable.remove(here);
  here.state = Fiber::State::ended;
  here.result = result;
  if (here.number == 1) {
    go_to(table->outside, "end", nullptr);
  }
  if (here.detached) forget(here);
  wake(&here, ~0U);
  leave("end", nullptr);
  std::abort();
}

void forget(Fiber& fiber) noexcept {
  fiber.number = 0;
}

}  // namespace penstock::simulation

namespace penstock::chaos {

using simulation::process;

void begin(std::uint64_t seed, bool endless) {
  simulation::Schedule const schedule = simulation::schedule_of(seed, endless);
  // Time that has passed until now stays as it is.
  process.time += simulation::ticks * (process.schedule.nanoseconds - schedule.nanoseconds);
  process.schedule = schedule;
  process.draw = Draw(schedule.seed);
  simulation::start_turn();
}
void calm() noexcept {
  process.over = true;
}
void leave_this_thread_alone() noexcept {}

std::uint64_t operations() noexcept {
  return simulation::ticks;
}
bool endless_waits() noexcept {
  return process.schedule.endless_waits;
}
std::string describe_schedule() {
  return describe(process.schedule);
}

void disturb(void const* site) noexcept {
  if (++simulation::ticks >= simulation::turn_end) [[unlikely]]
    simulation::end_turn(site);
}
void count_operation() noexcept {}
bool fails_weakly() noexcept {
  auto const weak = process.schedule.weak;
  return weak != 0 && process.draw.one_in(weak);
}
bool wakes_early() noexcept {
  auto const early = process.schedule.early;
  return early != 0 && process.draw.one_in(early);
}

}  // namespace penstock::chaos
