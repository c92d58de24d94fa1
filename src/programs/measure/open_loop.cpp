// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/open_loop.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "engine/core/event_count.hpp"
#include "engine/core/pool.hpp"
#include "engine/core/quantile.hpp"
#include "engine/lane/graph_capture.hpp"

namespace penstock::measure {
namespace {

using Clock = OpenLoop::Clock;

/// Maximum number of tiles that may wait in a pipeline that keeps up, if tiles are rare.
constexpr std::uint64_t queue = 100;

/// Waits until then, or until `stop` is requested: asleep at first, and spinning at the end, since a thread that sleeps
/// wakes late.
void wait_until(Clock::time_point due, std::stop_token const& stop) {
  constexpr std::chrono::microseconds awake{100};
  if (Clock::now() < due - awake) {
    std::mutex mutex;
    std::condition_variable_any never_notified;
    std::unique_lock lock(mutex);
    never_notified.wait_until(lock, stop, Clock::real(due - awake), [] { return false; });
  }
  while (Clock::now() < due && !stop.stop_requested()) relax_cpu();
}

}  // namespace

std::uint64_t settling_tiles(PipelineOptions const& made) noexcept {
  if (made.tuning.graphs == Graphs::never) return 0;
  constexpr std::uint64_t trial = GraphChoice::warm_up + 2 * GraphChoice::samples;
  return made.lanes * (trial + made.tuning.slots);
}

Meter meter_of(PipelineOptions const& made, std::chrono::nanoseconds warm_up, std::chrono::nanoseconds window,
               std::chrono::nanoseconds settling) {
  std::uint64_t const to_settle = settling.count() > 0 ? settling_tiles(made) : 0;
  return Meter(warm_up, window, std::max<std::uint64_t>(made.tuning.tiles, to_settle), std::max(settling, window));
}

Load load_at(double tiles_per_second, PipelineOptions const& made, std::chrono::nanoseconds warm_up,
             std::chrono::nanoseconds window) {
  constexpr double for_quantiles = 100;
  // Tiles may be rare, or may have been rare for a moment when the load was found.
  constexpr double longest_warm_up = 2, longest_for_quantiles = 10;
  auto const in = [&](double seconds) { return tiles_per_second * seconds; };
  auto const seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
  double const settled = std::min(static_cast<double>(settling_tiles(made)), in(longest_warm_up));
  double const enough = std::min(for_quantiles, in(longest_for_quantiles));
  return {.tiles_per_second = tiles_per_second,
          .warm_up = static_cast<std::uint64_t>(std::max(settled, in(seconds(warm_up)))),
          .counted = static_cast<std::uint64_t>(std::max({1.0, enough, in(seconds(window))}))};
}

std::size_t OpenLoop::fill(Tile& tile) {
  wait_until(due(tile.sequence), stop_);
  return UntilFailed::fill(tile);
}

void OpenLoop::arrived(std::uint64_t number, Clock::time_point at) {
  if (load_.most_late.count() > 0 && at > std::max(due(number) + load_.most_late, due(number + queue))) {
    too_late_.store(true, std::memory_order_relaxed);
    fail();
  }
  if (number < load_.warm_up) return;
  microseconds_[number - load_.warm_up] = std::chrono::duration<double, std::micro>(at - due(number)).count();
}

Latency OpenLoop::latency() {
  return {.load_tiles_per_second = load_.tiles_per_second,
          .p50 = quantile<double>(microseconds_, 0.5),
          .p99 = quantile<double>(microseconds_, 0.99),
          .p999 = quantile<double>(microseconds_, 0.999)};
}

std::chrono::nanoseconds time_to_fill(RepeatedSource::Make const& make, TileShape const& shape) {
  constexpr std::size_t least = 3, most = 16;
  constexpr std::chrono::milliseconds enough{1};
  std::vector<std::byte> slab(Pool::slab_bytes(shape, 1));
  Pool pool(slab, shape, 1);
  RepeatedSource source(make, pool);
  Loan const tile = pool.borrow();
  tile->sequence = 0;
  auto const fill = [&] {
    bool const any = source.next(*tile);
    if (any) tile->filled = source.fill(*tile);
    ++tile->sequence;
    return any;
  };
  // The first call touches the pages of both.
  if (!fill()) return std::chrono::nanoseconds(0);
  std::vector<std::chrono::nanoseconds> times;
  auto const start = Clock::now();
  for (auto before = start; times.size() < least || (times.size() < most && before < start + enough);) {
    fill();
    auto const now = Clock::now();
    times.emplace_back(now - before);
    before = now;
  }
  return quantile<std::chrono::nanoseconds>(times, 0.5);
}

unsigned producers_at(double tiles_per_second, std::chrono::nanoseconds to_fill) {
  if (to_fill.count() == 0) return 1;
  constexpr double beside_others = 2;
  double const at_once = std::ceil(beside_others * tiles_per_second * std::chrono::duration<double>(to_fill).count());
  return static_cast<unsigned>(std::min(at_once + 1, double{PipelineOptions::most_threads}));
}

}  // namespace penstock::measure
