// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/ceilings.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <vector>

#include "penstock/core/pool.hpp"
#include "penstock/machine/bound_thread.hpp"
#include "penstock/machine/slab.hpp"
#include "penstock/measure/work_stages.hpp"

namespace penstock::measure {
namespace {

using Clock = std::chrono::steady_clock;

/// Calls from four threads come to most of what a GPU's driver takes in all.
constexpr unsigned gpu_threads = 4;
/// In flight per thread and stream: enough to hide what a copy costs to start, few enough to stay near the CPU.
constexpr std::size_t most_depth = 32;
constexpr std::size_t most_bytes = std::size_t{8} << 20;
/// For all threads that drive the device: large tiles fill it from fewer threads.
constexpr std::size_t most_bytes_of_all = std::size_t{256} << 20;
/// A copy that hardly has any set-up.
constexpr std::size_t large = std::size_t{8} << 20;
/// Before it counts: this part of the time, in which places fill up, streams are used first and clocks rise.
constexpr int warm_up_part = 8;
/// A tile in which there is nothing to do, and enough for a node of BLAKE3.
constexpr std::size_t smallest = 256;

/// Does pieces on several threads, until the time is over; pieces a second over all.
///
/// Throws: what a thread threw, or Error of kind system, if one cannot be started.
double rate(unsigned threads, std::chrono::nanoseconds each, std::stop_token const& stop,
            std::function<std::function<std::size_t()>(unsigned)> const& worker) {
  std::latch ready(threads);
  // One start for all: who came late would count the first thing that it did in no time at all.
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
      piece();  // Whether it works at all.
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
    std::size_t const pieces = over.load(std::memory_order_relaxed) ? 0 : work_for(each);
    // Who is through first ends it for all, so that all counted while all worked.
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
    // Nobody waits for those that will never come.
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

/// What one thread copies or computes with: streams, and places in host and device memory.
///
/// Half of the places have an event together: each event is two calls more, and where copies are small the calls are
/// what takes the time. Meanwhile the other half is in flight.
class Bench {
 public:
  Bench(Device& device, std::span<std::byte> host, std::size_t tile)
      : device_(device),
        host_(host),
        tile_(tile),
        depth_(host.size() / tile / 2),
        batch_(std::max<std::size_t>(depth_ / 2, 1)),
        memory_(device.allocate(host.size())),
        up_(device.make_stream()),
        down_(device.make_stream()) {
    for (std::size_t i = 0; i < 2 * depth_; ++i) ends_.push_back(device.make_event());
  }
  /// Puts one more of each on the way, after waiting for the oldest.
  std::size_t copy(bool up, bool down) {
    std::size_t const at = turn_++ % depth_;
    if (turn_ > depth_ && at == first_of_batch(at)) {
      if (up) ends_[at].wait();
      if (down) ends_[depth_ + at].wait();
    }
    if (up) {
      up_.upload(on_device(at), on_host(at));
      if (ends_batch(at)) up_.record(ends_[first_of_batch(at)]);
    }
    if (down) {
      // From and to the other half, so that the two directions have nothing to do with each other.
      down_.download(on_host(depth_ + at), on_device(depth_ + at));
      if (ends_batch(at)) down_.record(ends_[depth_ + first_of_batch(at)]);
    }
    return 1;
  }
  std::size_t compute(Stage& stage, TileShape shape) {
    std::size_t const at = turn_++ % depth_;
    if (turn_ > depth_ && at == first_of_batch(at)) ends_[at].wait();
    std::span<std::byte> const input = on_device(at).first(shape.input_bytes);
    std::span<std::byte> const output = shape.in_place ? input : on_device(depth_ + at).first(shape.output_bytes);
    static_cast<void>(stage.run({input, output, 0, 0}, up_));
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    if (ends_batch(at)) up_.record(ends_[first_of_batch(at)]);
    return 1;
  }
  /// All calls for a tile in which there is next to nothing to do; with an event of its own, as lanes have it.
  std::size_t pass(Stage& stage, TileShape shape) {
    std::size_t const at = turn_++ % depth_;
    if (turn_ > depth_) ends_[at].wait();
    std::span<std::byte> const input = on_device(at).first(std::min(shape.input_bytes, smallest));
    std::span<std::byte> const output =
        shape.in_place ? input : on_device(depth_ + at).first(std::min(shape.output_bytes, smallest));
    up_.upload(input, on_host(at).first(input.size()));
    static_cast<void>(stage.run({input, output, 0, 0}, up_));
    if (auto const refusal = device_.take_refusal()) throw *refusal;
    up_.download(on_host(depth_ + at).first(output.size()), output);
    up_.record(ends_[at]);
    return 1;
  }
  StreamRef stream() const { return up_; }

 private:
  std::size_t first_of_batch(std::size_t at) const { return at - at % batch_; }
  bool ends_batch(std::size_t at) const { return (at + 1) % batch_ == 0 || at + 1 == depth_; }
  std::span<std::byte> on_host(std::size_t at) const { return host_.subspan(at * tile_, tile_); }
  std::span<std::byte> on_device(std::size_t at) const { return memory_.bytes().subspan(at * tile_, tile_); }

  Device& device_;
  std::span<std::byte> host_;
  std::size_t tile_;
  std::size_t depth_;
  std::size_t batch_;  ///< Places that have an event together.
  std::size_t turn_ = 0;
  DeviceMemory memory_;
  std::deque<Event> ends_;
  Stream up_;  ///< After the memory and the events, so that it is waited for first.
  Stream down_;
};

}  // namespace

inline namespace PENSTOCK_FLAVOUR {

Ceilings measure_ceilings(Device& device, Setting const& setting, unsigned producers, std::string const& file,
                          std::chrono::nanoseconds each, std::stop_token const& stop, FillMemory* memory) {
  // Tiles as the pool lays them, so that alignment is the same.
  TileShape const one_part{.input_bytes = setting.tile};
  std::size_t const stride = Pool::slab_bytes(one_part, 2) - Pool::slab_bytes(one_part, 1);
  std::size_t const depth = std::clamp<std::size_t>(most_bytes / stride, 2, most_depth);
  unsigned const wanted = device.info().kind == DeviceKind::cuda ? gpu_threads : 1;
  auto const threads =
      static_cast<unsigned>(std::clamp<std::size_t>(most_bytes_of_all / (2 * depth * stride), 1, wanted));
  // Who fills needs one tile at least, and the run itself has two for each.
  bool const fills = setting.fill != Fill::none && producers > 0;
  std::size_t const filled_at_once = std::clamp<std::size_t>(most_bytes / stride, 1, most_depth);
  std::size_t const needed =
      std::max(std::size_t{threads} * 2 * depth, fills ? producers * filled_at_once : 0) * stride;
  Slab const slab((needed + Slab::alignment - 1) / Slab::alignment * Slab::alignment);
  Pinned const pinned = device.pin(slab.bytes());
  auto const part = [&](unsigned thread) {
    return slab.bytes().subspan(std::size_t{thread} * 2 * depth * stride, 2 * depth * stride);
  };
  auto const copies = [&](bool up, bool down) {
    return rate(threads, each, stop, [&, up, down](unsigned thread) -> std::function<std::size_t()> {
      device.attach();
      auto const bench = std::make_shared<Bench>(device, part(thread), stride);
      return [bench, up, down] { return bench->copy(up, down); };
    });
  };
  Ceilings ceilings;
  bool const in = setting.direction != Direction::out;
  bool const out = setting.direction != Direction::in && setting.work != Work::hash;
  if (in) ceilings.upload = copies(true, false);
  if (out) ceilings.download = copies(false, true);
  ceilings.both = in && out ? std::optional(copies(true, true)) : in ? ceilings.upload : ceilings.download;
  if (setting.work != Work::copy) {
    Stages const stages = work_stages(setting);
    TileShape const shape = setting.shape_of_tile();
    auto const computed = [&](bool small) {
      return rate(threads, each, stop, [&, small](unsigned thread) -> std::function<std::size_t()> {
        device.attach();
        struct Computing {
          std::unique_ptr<Stage> stage;
          std::unique_ptr<Bench> bench;  ///< Dies first: its streams use what the stage owns.
        };
        auto const it = std::make_shared<Computing>();
        it->bench = std::make_unique<Bench>(device, part(thread), stride);
        it->stage = stages.make({device, it->bench->stream(), shape, thread});
        it->stage->prepare(it->bench->stream());
        return [it, shape, small] {
          return small ? it->bench->pass(*it->stage, shape) : it->bench->compute(*it->stage, shape);
        };
      });
    };
    ceilings.kernel = computed(false);
    ceilings.submission = computed(true);
  }
  if (fills) {
    Filler filler(setting, file, memory);
    auto const filled = [&](unsigned by) {
      return rate(by, each, stop, [&](unsigned thread) -> std::function<std::size_t()> {
        auto const tiles = slab.bytes().subspan(thread * filled_at_once * stride, filled_at_once * stride);
        return [&filler, tiles, turn = std::size_t{0}, filled_at_once, stride, tile = setting.tile]() mutable {
          filler.fill(tiles.subspan(turn++ % filled_at_once * stride, tile));
          return std::size_t{1};
        };
      });
    };
    ceilings.fill = filled(producers);
    ceilings.fill_one = producers > 1 ? filled(1) : *ceilings.fill;
  }
  return ceilings;
}

Ceilings measure_link(Device& device, Direction direction, std::chrono::nanoseconds each, std::stop_token const& stop) {
  Slab const slab(4 * large);
  Pinned const pinned = device.pin(slab.bytes());
  auto const bytes_per_second = [&](bool up) {
    return large * rate(1, each, stop, [&, up](unsigned) -> std::function<std::size_t()> {
             device.attach();
             auto const bench = std::make_shared<Bench>(device, slab.bytes(), large);
             return [bench, up] { return bench->copy(up, !up); };
           });
  };
  Ceilings ceilings;
  if (direction != Direction::out) ceilings.link_up = bytes_per_second(true);
  if (direction != Direction::in) ceilings.link_down = bytes_per_second(false);
  return ceilings;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
