// SPDX-License-Identifier: Apache-2.0
// Question: what does an item cost on its way through a mailbox? Budget: 50 ns in and out on one thread, 500 ns where
// up to seven threads push to one that pops.
#include <thread>

#include <benchmark/benchmark.h>

#include "engine/core/mailbox.hpp"

namespace {

using namespace penstock;

constexpr std::size_t capacity = 1024;

void push_and_pop(benchmark::State& state) {
  Mailbox<std::uint64_t> mailbox(capacity);
  std::uint64_t number = 0;
  for (auto _ : state) {
    mailbox.push(++number);
    benchmark::DoNotOptimize(mailbox.pop());
  }
}
BENCHMARK(push_and_pop);

/// A lane asks for tickets in this way each time round.
void pop_from_empty(benchmark::State& state) {
  Mailbox<std::uint64_t> mailbox(capacity);
  for (auto _ : state) benchmark::DoNotOptimize(mailbox.pop());
}
BENCHMARK(pop_from_empty);

/// The first thread pops all that the others push; each of them pushes once in an iteration.
void many_push_one_pops(benchmark::State& state) {
  static Mailbox<std::uint64_t> mailbox(capacity);
  auto const writers = static_cast<std::uint64_t>(state.threads()) - 1;
  std::uint64_t number = 0;
  for (auto _ : state) {
    if (state.thread_index() != 0) {
      while (!mailbox.push(++number)) std::this_thread::yield();
      continue;
    }
    for (std::uint64_t left = writers; left > 0;) mailbox.pop() ? static_cast<void>(--left) : std::this_thread::yield();
  }
  if (state.thread_index() == 0) state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(writers));
}
BENCHMARK(many_push_one_pops)->ThreadRange(2, 8)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
