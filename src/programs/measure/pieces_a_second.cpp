// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/pieces_a_second.hpp"

#include <atomic>
#include <barrier>
#include <latch>
#include <string>
#include <vector>

#include "engine/machine/bound_thread.hpp"
#include "penstock/clock.hpp"

namespace penstock::measure {
namespace {

/// The warm-up, which does not count, takes this part of the time: places fill up, streams are used first and clocks
/// rise.
constexpr int warm_up_part = 8;

}  // namespace

double pieces_a_second(unsigned threads, std::chrono::nanoseconds each, std::stop_token const& stop,
                       std::function<std::function<std::size_t()>(unsigned)> const& worker,
                       std::function<void()> const& warmed_up) {
  std::latch ready(threads);
  // All threads start together: else a late thread would count its first piece as one that took no time.
  Clock::time_point start;
  std::barrier warm(static_cast<std::ptrdiff_t>(threads), [&start]() noexcept { start = Clock::now(); });
  std::atomic<bool> over{false};
  std::vector<double> rates(threads);
  auto const work = [&](unsigned thread) {
    std::function<std::size_t()> piece;
    auto const work_for = [&](std::chrono::nanoseconds time) {
      std::size_t pieces = 0;
      auto const begin = Clock::now();
      do {
        pieces += piece();
      } while (Clock::now() - begin < time && !stop.stop_requested() && !over.load(std::memory_order_relaxed));
      return pieces;
    };
    bool is_ready = false;
    try {
      piece = worker(thread);
      piece();  // The first piece shows that it works.
      is_ready = true;
      ready.arrive_and_wait();
      work_for(each / warm_up_part);
    } catch (...) {
      over.store(true, std::memory_order_relaxed);
      if (!is_ready) ready.count_down();
      warm.arrive_and_drop();
      throw;
    }
    warm.arrive_and_wait();
    if (thread == 0 && warmed_up) warmed_up();
    std::size_t const pieces = over.load(std::memory_order_relaxed) ? 0 : work_for(each);
    // The first thread that is done ends it for all, so that all count while all work.
    over.store(true, std::memory_order_relaxed);
    rates[thread] = static_cast<double>(pieces) / std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::vector<BoundThread> all;
  all.reserve(threads);
  try {
    for (unsigned thread = 0; thread < threads; ++thread) {
      all.emplace_back("ps-alone-" + std::to_string(thread), CpuSet{},
                       [&, thread](std::stop_token const&) { work(thread); });
    }
  } catch (...) {
    // No thread waits for those that were not started.
    over.store(true, std::memory_order_relaxed);
    ready.count_down(static_cast<std::ptrdiff_t>(threads - all.size()));
    for (std::size_t missing = all.size(); missing < threads; ++missing) warm.arrive_and_drop();
    throw;
  }
  join_all(all);
  double sum = 0;
  for (double const one : rates) sum += one;
  return sum;
}

}  // namespace penstock::measure
