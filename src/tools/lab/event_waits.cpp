// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include "penstock/core/event_count.hpp"
#include "tools/lab/experiments.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr int round_trips = 50;

/// A way to wait for an event, and what it cost.
struct Wait {
  std::string_view row;
  EventOptions options;
  void (*wait)(EventRef event);

  std::chrono::nanoseconds cpu_time{};  ///< Of the waiting thread, during one long kernel.
  double round_trip = 0;                ///< Launch of an empty kernel to the return of the wait, in microseconds.
};

void poll(EventRef event) {
  while (!event.passed()) relax_cpu();
}

void call_wait(EventRef event) {
  event.wait();
}

/// What the calling thread has spent.
std::chrono::nanoseconds cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void try_out(Workbench& bench, StreamRef stream, Wait& wait) {
  Event const event = bench.device().make_event(wait.options);
  bench.kernel("stream", "kernel", stream);
  stream.record(event);
  auto const start = HostClock::now();
  auto const spent = cpu_time();
  wait.wait(event);
  wait.cpu_time = cpu_time() - spent;
  bench.note(std::string(wait.row), "wait", start, HostClock::now());

  std::vector<double> trips;
  for (int i = 0; i < round_trips; ++i) {
    auto const launched = HostClock::now();
    bench.kernel("stream", "empty", stream, 0);
    stream.record(event);
    wait.wait(event);
    trips.push_back(std::chrono::duration<double, std::micro>(HostClock::now() - launched).count());
  }
  wait.round_trip = median(trips);
}

Observation run(Workbench& bench) {
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

}  // namespace

Experiment event_waits() {
  return {.name = "event-waits",
          .expectation =
              "A thread that sleeps until an event has passed costs less than half the CPU time of one that "
              "polls; how soon each notices is told, not judged.",
          .why = "On a GPU a lane that polls hears sooner, and it burns a CPU, which producers could use.",
          .claim = Claim::may,
          .run = run};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
