// SPDX-License-Identifier: Apache-2.0
// Question: how long is it from a notification to the thread that waited? Spinning pays for no longer than such a
// wake-up. Budget: 20 us there and back for a sleeper; 20 ns for a notification that no thread waits for.
#include <atomic>
#include <chrono>
#include <thread>

#include <benchmark/benchmark.h>

#include "engine/core/event_count.hpp"

namespace {

using namespace penstock;

void notify_nobody(benchmark::State& state) {
  EventCount bell;
  for (auto _ : state) bell.notify();
}
BENCHMARK(notify_nobody);

void there_and_back(benchmark::State& state) {
  std::chrono::microseconds const spin(state.range(0));
  EventCount there, back;
  std::atomic<std::uint64_t> asked{0}, answered{0};
  std::atomic<bool> over{false};
  std::jthread other([&] {
    std::uint64_t seen = 0;
    while (!over) {
      there.await([&] { return over || asked.load() > seen; }, spin, std::chrono::hours(1));
      seen = asked.load();
      answered = seen;
      back.notify();
    }
  });
  for (auto _ : state) {
    std::uint64_t const turn = ++asked;
    there.notify();
    back.await([&] { return answered.load() >= turn; }, spin, std::chrono::hours(1));
  }
  over = true;
  there.notify();
}
BENCHMARK(there_and_back)->ArgName("spin_us")->Arg(0)->Arg(10)->Arg(50)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
