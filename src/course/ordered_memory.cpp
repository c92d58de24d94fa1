// SPDX-License-Identifier: Apache-2.0
// Experiment: memory that is allocated and freed inside a loop: by the device, in the order of a stream, and there with
// another stream as its last user.
#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "course/experiment.hpp"
#include "course/held_stream.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"
#include "engine/core/host_time.hpp"
#include "penstock/kernels.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using Time = std::chrono::nanoseconds;

constexpr std::size_t steps = 4;
constexpr std::size_t count = std::size_t{1} << 18;
constexpr std::size_t bytes = count * sizeof(float);

/// Result of one loop.
struct Loop {
  std::vector<Time> allocate, free;  ///< Times of these calls; `free` has the wait that must come before it, too.
  std::set<std::byte const*> places;
  Time whole{};  ///< Time that the host needed for the loop.
};

Time median(std::vector<Time> times) {
  auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// Memory in the order of one stream, whose last user is another one.
struct Kept {
  DeviceMemory memory;
  Event last_use;
  HostClock::time_point let_go;
};
struct LoopElsewhere {
  std::vector<Time> delays;  ///< From the time when the host needed the memory no more until it could be freed.
  std::set<std::byte const*> places;
  bool went_home = false;  ///< The next memory of the first stream lies in one of these places.
};

/// A loop whose steps are: memory, an upload to it, a kernel that takes its time, one that doubles the numbers, a
/// download.
class Steps {
 public:
  Steps(Workbench& bench, std::string row) : bench_(bench), row_(std::move(row)), host_(bench.device(), steps * bytes) {
    for (std::size_t step = 0; step < steps; ++step) std::ranges::fill(at(step), static_cast<float>(step + 1));
  }

  template <class Allocate, class Free>
  Loop go_through(StreamRef stream, Allocate const& allocate, Free const& free) {
    Loop loop;
    HostTime::forget();
    auto const began = HostClock::now();
    for (std::size_t step = 0; step < steps; ++step) {
      auto const asked = HostClock::now();
      DeviceMemory memory = allocate();
      loop.allocate.push_back(HostClock::now() - asked);
      loop.places.insert(memory.bytes().data());
      use(step, memory.bytes(), stream);
      auto const through = HostClock::now();
      free(std::move(memory));
      auto const freed = HostClock::now();
      loop.free.push_back(freed - through);
      bench_.note(row_ + ", host", "free", through, freed);
    }
    loop.whole = HostClock::now() - began;
    return loop;
  }
  /// Allocates and frees in the order of `home`. The memory is used in `other`, so it is freed when that has passed an
  /// event, and only then given to a later step.
  LoopElsewhere go_through(StreamRef home, StreamRef other) {
    LoopElsewhere loop;
    std::deque<Kept> kept;
    auto const free_first = [&] {
      kept.front().last_use.wait();
      home.wait(kept.front().last_use);
      loop.delays.push_back(HostClock::now() - kept.front().let_go);
      kept.pop_front();
    };
    for (std::size_t step = 0; step < steps; ++step) {
      while (!kept.empty() && kept.front().last_use.passed()) free_first();
      DeviceMemory memory = home.allocate(bytes);
      loop.places.insert(memory.bytes().data());
      Event const allocated = bench_.device().make_event();
      home.record(allocated);
      other.wait(allocated);
      use(step, memory.bytes(), other);
      Event last_use = bench_.device().make_event();
      other.record(last_use);
      kept.push_back({std::move(memory), std::move(last_use), HostClock::now()});
    }
    while (!kept.empty()) free_first();
    DeviceMemory const next = home.allocate(bytes);
    loop.went_home = loop.places.contains(next.bytes().data());
    return loop;
  }
  /// Number of wrong results, once the stream is through.
  std::size_t wrong() {
    std::size_t wrong = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      wrong += static_cast<std::size_t>(
          std::ranges::count_if(at(step), [&](float x) { return x != static_cast<float>(2 * (step + 1)); }));
    }
    return wrong;
  }

 private:
  void use(std::size_t step, std::span<std::byte> memory, StreamRef stream) {
    auto const here = std::as_writable_bytes(at(step));
    auto const there = as_floats(memory);
    stream.upload(memory, here);
    bench_.kernel(row_, "kernel", stream);
    sum(there, there, there, stream);
    stream.download(here, memory);
  }
  std::span<float> at(std::size_t step) const { return as_floats(host_.bytes()).subspan(step * count, count); }

  Workbench& bench_;
  std::string const row_;
  PinnedMemory const host_;
};

void add(std::vector<Figure>& figures, std::string const& name, std::string const& free, Loop const& loop) {
  auto const microseconds = [](Time time) { return std::chrono::duration<double, std::micro>(time).count(); };
  figures.push_back({name + ", allocate, first", microseconds(loop.allocate.front()), "us"});
  figures.push_back({name + ", allocate, median", microseconds(median(loop.allocate)), "us"});
  figures.push_back({name + ", " + free + ", median", microseconds(median(loop.free)), "us"});
  figures.push_back({name + ", the host's loop", microseconds(loop.whole) / 1000, "ms"});
}

Observation allocate_in_a_loop(Workbench& bench) {
  Device& device = bench.device();
  Steps by_device(bench, "device"), in_order(bench, "stream"), elsewhere(bench, "other stream");
  std::size_t wrong = 0;
  Stream const plain = device.make_stream();
  sum_prepare(plain);
  // Memory of the device may not be freed before the stream has finished with it.
  Loop const waiting = by_device.go_through(
      plain, [&] { return device.allocate(bytes); },
      [&](DeviceMemory&& memory) {
        plain.synchronize();
        DeviceMemory const freed_here(std::move(memory));
      });
  wrong += by_device.wrong();

  HeldStream held(device);
  Event const end = device.make_event();
  held.hold(bench, "stream");
  Loop const ordered = in_order.go_through(
      held.ref(), [&] { return held.ref().allocate(bytes); },
      [](DeviceMemory&& memory) { DeviceMemory const freed_here(std::move(memory)); });
  held.ref().record(end);
  bool const over = end.passed();
  held.let_go();
  held.ref().synchronize();
  wrong += in_order.wrong();

  Stream const other = device.make_stream();
  LoopElsewhere const deferred = elsewhere.go_through(plain, other);
  other.synchronize();
  wrong += elsewhere.wrong();

  std::vector<Figure> figures;
  add(figures, "Device::allocate", "wait and free", waiting);
  add(figures, "StreamRef::allocate", "free", ordered);
  figures.push_back(
      {"places that " + std::to_string(steps) + " steps in order had", static_cast<double>(ordered.places.size()), ""});
  figures.push_back({"places, last used by another stream", static_cast<double>(deferred.places.size()), ""});
  figures.push_back({"until one of them can be had again, median",
                     std::chrono::duration<double, std::milli>(median(deferred.delays)).count(), "ms"});
  figures.push_back({"places among these that the next step in order gets", deferred.went_home ? 1.0 : 0.0, ""});
  Time waits{};
  for (Time const time : waiting.free) waits += time;
  return {bench.intervals(), std::move(figures),
          verdict_on_ordered_memory(
              {.over = over, .waits = waits, .loop = ordered.whole, .wrong = wrong, .all = 3 * steps * count})};
}

}  // namespace

Experiment ordered_memory() {
  return {.name = "ordered-memory",
          .expectation =
              "A loop that takes memory of the device for each step has to wait for the step before it frees the "
              "memory; one that allocates and frees in the order of its stream is through before the stream has begun.",
          .why =
              "The next step of the same stream may get the same bytes at once, since it runs behind the last use of "
              "them. Where another stream used them last, they cannot be had before it is through. penstock's own "
              "slots are "
              "allocated once, before the first tile.",
          .claim = Claim::must,
          .run = allocate_in_a_loop};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
