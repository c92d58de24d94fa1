// SPDX-License-Identifier: Apache-2.0
// Experiments: the time for which a call keeps its host thread.
#include "course/experiment.hpp"
#include "course/workbench.hpp"
#include "engine/core/event_count.hpp"
#include "engine/core/host_time.hpp"
#include "engine/core/quantile.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr int round_trips = 50;

/// A way to wait for an event, and its cost.
struct Wait {
  std::string_view row;
  EventOptions options;
  void (*wait)(EventRef event);

  std::chrono::nanoseconds cpu_time{};  ///< CPU time of the waiting thread, during one long kernel.
  double round_trip = 0;                ///< Launch of an empty kernel to the return of the wait, in microseconds.
};

void poll(EventRef event) {
  while (!event.passed()) relax_cpu();
}

void call_wait(EventRef event) {
  event.wait();
}

void try_out(Workbench& bench, StreamRef stream, Wait& wait) {
  Event const event = bench.device().make_event(wait.options);
  bench.kernel("stream", "kernel", stream);
  stream.record(event);
  auto const start = HostClock::now();
  auto const spent = HostTime::cpu_time();
  wait.wait(event);
  wait.cpu_time = HostTime::cpu_time() - spent;
  bench.note(std::string(wait.row), "wait", start, HostClock::now());

  std::vector<double> trips;
  for (int i = 0; i < round_trips; ++i) {
    auto const launched = HostClock::now();
    bench.kernel("stream", "empty", stream, 0);
    stream.record(event);
    wait.wait(event);
    trips.push_back(std::chrono::duration<double, std::micro>(HostClock::now() - launched).count());
  }
  wait.round_trip = quantile<double>(trips, 0.5);
}

Observation wait_each_way(Workbench& bench) {
  Wait polling{"polling", {}, poll};
  Wait waiting{"waiting", {}, call_wait};
  Wait asleep{"asleep", {.blocking_wait = true}, call_wait};
  Stream const stream = bench.device().make_stream();
  std::vector<Figure> figures;
  for (Wait* const wait : {&polling, &waiting, &asleep}) {
    try_out(bench, stream, *wait);
    std::string const row(wait->row);
    figures.push_back({row + ", CPU time", std::chrono::duration<double, std::milli>(wait->cpu_time).count(), "ms"});
    figures.push_back({row + ", round trip, median", wait->round_trip, "us"});
  }
  auto intervals = bench.intervals();
  std::erase_if(intervals, [](Interval const& interval) { return interval.label == "empty"; });
  auto const total = intervals[1].length();
  return {std::move(intervals),
          std::move(figures),
          {2 * asleep.cpu_time < polling.cpu_time, "for a wait of " + time_text(total) + " a thread asleep used " +
                                                       time_text(asleep.cpu_time) + " of CPU time, one that polled " +
                                                       time_text(polling.cpu_time)}};
}

constexpr std::size_t copied_bytes = std::size_t{32} << 20;
constexpr int repetitions = 5;

/// Timing of a call to copy behind a kernel.
struct Call {
  bool returned_first;  ///< It returned before its copy's turn had come.
  std::chrono::nanoseconds time;
};

Call download_behind_a_kernel(Workbench& bench, std::string const& kind, std::span<std::byte> host,
                              std::span<std::byte const> memory) {
  Stream const stream = bench.device().make_stream();
  bench.kernel(kind, "kernel", stream);
  auto const start = HostClock::now();
  auto const copy = bench.timed(kind, "copy", stream, [&] { stream.download(host, memory); });
  auto const end = HostClock::now();
  // The copy's start is a better test than its end, which the host may take some time to see.
  bool const returned_first = !copy.start.passed();
  bench.note(kind + " call", "call", start, end);
  stream.synchronize();
  return {returned_first, end - start};
}

double rate(StreamRef stream, std::function<void()> const& copy) {
  std::vector<double> rates;
  for (int i = 0; i < repetitions; ++i) {
    auto const start = HostClock::now();
    copy();
    stream.synchronize();
    rates.push_back(static_cast<double>(copied_bytes) /
                    std::chrono::duration<double, std::nano>(HostClock::now() - start).count());
  }
  return quantile<double>(rates, 0.5);
}

std::vector<Figure> rates(Device& device, std::string const& kind, std::span<std::byte> host,
                          std::span<std::byte> memory) {
  Stream const stream = device.make_stream();
  return {{"upload, " + kind, rate(stream, [&] { stream.upload(memory, host); }), "GB/s"},
          {"download, " + kind, rate(stream, [&] { stream.download(host, memory); }), "GB/s"}};
}

std::string told(Call const& call, std::string const& kind) {
  return "the call for " + kind + " memory returned after " + time_text(call.time) +
         (call.returned_first ? ", before the copy's turn had come" : ", when the copy's turn had come");
}

Observation copy_each_way(Workbench& bench) {
  PinnedMemory const pinned(bench.device(), copied_bytes);
  std::vector<std::byte> pageable(copied_bytes);
  DeviceMemory const memory = bench.device().allocate(copied_bytes);
  auto const with_pinned = download_behind_a_kernel(bench, "pinned", pinned.bytes(), memory.bytes());
  auto const with_pageable = download_behind_a_kernel(bench, "pageable", pageable, memory.bytes());
  // The engines of the CPU device reach all of the host's memory.
  bool const keeps_caller = bench.device().info().acts_as_gpu();
  auto intervals = bench.intervals();
  auto figures = rates(bench.device(), "pinned", pinned.bytes(), memory.bytes());
  for (auto& one : rates(bench.device(), "pageable", pageable, memory.bytes())) figures.push_back(std::move(one));
  return {std::move(intervals),
          std::move(figures),
          {with_pinned.returned_first && with_pageable.returned_first != keeps_caller,
           told(with_pinned, "pinned") + "; " + told(with_pageable, "pageable")}};
}

}  // namespace

Experiment event_waits() {
  return {.name = "event-waits",
          .expectation =
              "A thread that sleeps until an event has passed costs less than half the CPU time of one that "
              "polls; how soon each notices is told, not judged.",
          .why = "On a GPU a lane that polls hears sooner, and it burns a CPU, which producers could use.",
          .claim = Claim::may,
          .run = wait_each_way};
}

Experiment pageable_copy() {
  return {.name = "pageable-copy",
          .expectation =
              "A call to copy to pinned memory returns at once, while the copy waits for its turn in the "
              "stream; to pageable memory a GPU keeps the caller until the copy is done, and the CPU device "
              "does not.",
          .why = "A pageable copy on a GPU is not asynchronous, and slower: pin what it shall copy beside other work.",
          .claim = Claim::may,
          .run = copy_each_way};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
