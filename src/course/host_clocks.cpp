// SPDX-License-Identifier: Apache-2.0
// Experiments: the time of a device's work, by the host's clock and by events, asked for too early and in time.
#include "course/experiment.hpp"
#include "course/held_stream.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// One kernel, timed by the host's clock and by events.
struct Taken {
  std::chrono::nanoseconds host{};
  std::chrono::nanoseconds events{};
  bool over;  ///< The kernel was over when the host looked at its clock again.
};

enum class Until { launched, done };

Taken take_time(Workbench& bench, StreamRef stream, Until until, std::string const& row) {
  Event const start = bench.device().make_event({.timing = true});
  Event const end = bench.device().make_event({.timing = true});
  stream.record(start);
  auto const began = HostClock::now();
  bench.kernel("stream", "kernel", stream);
  stream.record(end);
  if (until == Until::done) stream.synchronize();
  auto const ended = HostClock::now();
  bench.note(row, "clock", began, ended);
  bool const over = end.passed();
  end.wait();
  return {ended - began, end.since(start).value(), over};
}

std::vector<Figure> figures_of(Taken const& taken, std::string const& what) {
  auto const milliseconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  return {{what + ", host clock", milliseconds(taken.host), "ms"},
          {what + ", events", milliseconds(taken.events), "ms"}};
}

Observation take_the_time(Workbench& bench) {
  Stream const stream = bench.device().make_stream();
  auto const launch = take_time(bench, stream, Until::launched, "launch");
  auto const alone = take_time(bench, stream, Until::done, "synchronize");
  bench.kernel("stream", "earlier", stream);
  auto const behind = take_time(bench, stream, Until::done, "behind");

  std::vector<Figure> figures;
  auto const add = [&](Taken const& taken, std::string const& what) {
    for (auto& figure : figures_of(taken, what)) figures.push_back(std::move(figure));
  };
  add(launch, "around the launch");
  add(alone, "around launch and synchronize");
  add(behind, "the same behind an earlier kernel");
  return {
      bench.intervals(), std::move(figures),
      verdict_on_clocks({.over = launch.over, .launch = launch.host, .behind = behind.host, .events = behind.events})};
}

/// Asks events about a kernel while it cannot be over, and afterwards.
Observation ask_early(Workbench& bench) {
  Event const start = bench.device().make_event({.timing = true});
  Event const end = bench.device().make_event({.timing = true});
  Event const untimed = bench.device().make_event();
  HeldStream held(bench.device());
  StreamRef const stream = held.ref();
  stream.record(start);
  start.wait();
  held.hold(bench, "stream");
  bench.kernel("stream", "kernel", stream);
  stream.record(untimed);
  stream.record(end);

  constexpr int times = 3;
  int numbers = 0;
  for (int i = 0; i < times; ++i) {
    auto const asked = HostClock::now();
    if (end.since(start)) ++numbers;
    bench.note("host", "since", asked, HostClock::now());
  }
  held.let_go();
  end.wait();
  auto const late = HostClock::now();
  auto const elapsed = end.since(start);
  bench.note("host", "since", late, HostClock::now());
  bool refused = false;
  try {
    untimed.since(start);
  } catch (Error const& error) {
    refused = error.kind() == ErrorKind::bad_argument;
  }
  return {bench.intervals(), {}, verdict_on_elapsed({.early = numbers, .late = elapsed, .refused = refused})};
}

/// Pairs of events with nothing between them, and with kernels of growing length.
Observation step_by_step(Workbench& bench) {
  constexpr int pairs = 200;
  constexpr std::chrono::nanoseconds longer_by{100};
  struct Pair {
    Event start, end;
  };
  std::vector<Pair> recorded;
  Stream const stream = bench.device().make_stream();
  auto const record = [&](auto const& between) {
    auto const make = [&] { return bench.device().make_event({.timing = true}); };
    Pair const& pair = recorded.emplace_back(Pair{make(), make()});
    stream.record(pair.start);
    between();
    stream.record(pair.end);
  };
  bench.kernel("stream", "first", stream);
  stream.synchronize();  // Otherwise the device has all the pairs before it comes to them.
  for (int i = 0; i < pairs; ++i) record([] {});
  for (int i = 1; i <= pairs; ++i) record([&] { bench.occupy("kernel", i * longer_by, stream); });
  stream.synchronize();
  std::vector<std::chrono::nanoseconds> times;
  for (Pair const& pair : recorded) times.push_back(pair.end.since(pair.start).value());
  EventSteps const steps = steps_of(std::move(times));
  auto const microseconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  std::vector<Figure> figures;
  if (steps.shortest)
    figures.push_back({"shortest time between two events, but for 0", microseconds(*steps.shortest), "us"});
  if (steps.step) figures.push_back({"smallest step between different times", microseconds(*steps.step), "us"});
  return {bench.intervals(), std::move(figures), verdict_on_event_steps(steps)};
}

}  // namespace

Experiment host_clock() {
  return {.name = "host-clock",
          .expectation =
              "A host that takes the time around a launch sees the call and not the kernel; with a synchronize "
              "it sees the kernel and all that the stream had before it; events see the kernel.",
          .why = "A launch only hands work over. Take the time of a device's work by events on both sides of it.",
          .claim = Claim::may,
          .run = take_the_time};
}

Experiment elapsed_early() {
  return {.name = "elapsed-early",
          .expectation =
              "The time between two events is not known before the device has passed both: asked earlier, "
              "since() says nothing, and never a number.",
          .why =
              "Where an interface answers too early, its number means nothing; penstock's has an empty optional, "
              "and refuses events that keep no time.",
          .claim = Claim::must,
          .run = ask_early};
}

Experiment event_resolution() {
  return {.name = "event-resolution",
          .expectation =
              "Times between events come in steps of around half a microsecond, as CUDA's documentation states, or "
              "smaller ones.",
          .why =
              "A time of a few steps is no measurement: take the time of many kernels at once. A model has the steps "
              "that it states; the CPU device has the system's clock, to the nanosecond.",
          .claim = Claim::may,
          .run = step_by_step};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
