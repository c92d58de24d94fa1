// SPDX-License-Identifier: Apache-2.0
// Experiments: default streams beside streams of their own, host threads and libraries.
#include <algorithm>
#include <string>

#include "course/experiment.hpp"
#include "course/workbench.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Three kernels, in a stream, in the legacy default stream, and in another stream, launched in this order.
std::vector<Interval> trio(Workbench& bench, bool blocking) {
  Stream const one = bench.device().make_stream({.blocking = blocking});
  Stream const other = bench.device().make_stream({.blocking = blocking});
  bench.kernel("stream A", "A", one);
  bench.kernel("stream 0", "0", bench.device().legacy_default_stream());
  bench.kernel("stream B", "B", other);
  return bench.intervals();
}

/// `beside`: the kernel of the other device still ran when that of the legacy stream was through.
Verdict verdict_on_other_device(bool beside) {
  return {beside, beside ? "the kernel in the legacy stream was through while a blocking stream of another device ran"
                         : "the kernel in the legacy stream was through no sooner than the blocking stream"};
}

constexpr unsigned streams = 8;
constexpr auto stray_row = "stream 0";

/// A kernel in each of eight blocking streams, and after each a short one in `stray`, in the order of the launches.
std::vector<Interval> kernels_and_strays(Workbench& bench, StreamRef stray) {
  std::vector<Stream> own;
  for (unsigned i = 0; i < streams; ++i) own.push_back(bench.device().make_stream({.blocking = true}));
  for (unsigned i = 0; i < streams; ++i) {
    std::string const number = std::to_string(i + 1);
    bench.kernel("stream " + number, number, own[i]);
    bench.kernel(stray_row, "stray " + number, stray, 0);
  }
  return bench.intervals();
}

/// The strays come last.
auto strays_of(std::vector<Interval>& intervals) {
  return std::stable_partition(intervals.begin(), intervals.end(),
                               [](auto const& one) { return one.row != stray_row; });
}

constexpr unsigned threads = 8;

/// A kernel by each of eight host threads, in its default stream by `default_stream`; ordered by their starts.
std::vector<Interval> kernel_of_each_thread(Workbench& bench, StreamRef (*default_stream)(Device&)) {
  ThreadTeam team(bench.device(), threads);
  team.each([&](unsigned i) {
    std::string const number = std::to_string(i + 1);
    bench.kernel("thread " + number, number, default_stream(bench.device()));
  });
  // The intervals are read before the threads end, since no rule says what becomes of a thread's default stream then.
  auto intervals = bench.intervals();
  std::sort(intervals.begin(), intervals.end(),
            [](auto const& one, auto const& other) { return one.start < other.start; });
  return intervals;
}

void sort_by_row(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(), [](auto const& one, auto const& other) { return one.row < other.row; });
}

constexpr unsigned callers = 4;

/// Work of four threads on the device before and after the call of a library, which uses the legacy default stream.
struct Call {
  std::vector<Interval> all;
  std::span<Interval const> before() const { return std::span(all).first(callers); }
  Interval const& library() const { return all[callers]; }
  std::span<Interval const> after() const { return std::span(all).last(callers); }
};

/// The library's kernel is twice as long as the others, so that it outlasts those before it.
Call call_among_threads(Workbench& bench, std::function<StreamRef(unsigned)> const& stream_of) {
  ThreadTeam team(bench.device(), callers);
  auto const kernel_of_each = [&](std::string const& label) {
    team.each([&](unsigned i) {
      std::string const number = std::to_string(i + 1);
      bench.kernel("thread " + number, label + number, stream_of(i));
    });
  };
  kernel_of_each("first ");
  bench.kernel("library", "call", bench.device().legacy_default_stream(), 2);
  kernel_of_each("second ");
  Call call{bench.intervals()};
  // Any thread may launch first; the rows shall be in order.
  std::sort(call.all.begin(), call.all.begin() + callers,
            [](auto const& one, auto const& other) { return one.row < other.row; });
  return call;
}

}  // namespace

Experiment legacy_between() {
  return {.name = "legacy-between",
          .expectation =
              "A kernel in the legacy default stream waits for the one given before it to a blocking "
              "stream, and lets one given after it to another blocking stream wait in turn.",
          .why =
              "One launch that names no stream, in code compiled the legacy way, takes turns with all blocking "
              "streams of the device.",
          .claim = Claim::must,
          .run = [](Workbench& bench) -> Observation {
            auto intervals = trio(bench, true);
            auto verdict = one_after_another(intervals);
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

Experiment legacy_beside() {
  return {.name = "legacy-beside",
          .expectation = "Kernels in two non-blocking streams run beside the one in the legacy default stream.",
          .why =
              "Code that uses stream 0 does not hold up a non-blocking stream, so penstock's own streams are of "
              "that kind.",
          .claim = Claim::may,
          .run = [](Workbench& bench) -> Observation {
            auto intervals = trio(bench, false);
            auto verdict = all_at_once(intervals);
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

Experiment legacy_elsewhere() {
  return {
      .name = "legacy-elsewhere",
      .expectation =
          "A kernel in the legacy default stream of one device is through while one in a blocking stream of another "
          "device still runs.",
      .why = "The legacy stream takes turns with the streams of its own device (its CUDA context), not of others.",
      .claim = Claim::may,
      .run = [](Workbench& bench) -> Observation {
        Device& other = *bench.devices().all()[1];
        other.attach();
        // Twice as long, so that it still runs when the other one is through, unless that waits for it.
        Workbench elsewhere(DeviceGroup{&other}, {.kernel_time = 2 * bench.kernel_time()});
        Stream const blocking = other.make_stream({.blocking = true});
        Event const end = other.make_event();
        auto const began = HostClock::now();
        elsewhere.kernel("stream A", "A", blocking);
        blocking.record(end);
        StreamRef const legacy = bench.device().legacy_default_stream();
        bench.device().attach();
        bench.kernel("stream 0", "0", legacy);
        legacy.synchronize();
        bool const beside = !end.passed();
        blocking.synchronize();
        bench.note("other device, A", "A", began, HostClock::now());
        return {bench.intervals(), {}, verdict_on_other_device(beside)};
      },
      .devices = 2};
}

Experiment stray_legacy() {
  return {.name = "stray-legacy",
          .expectation =
              "Of eight kernels in eight blocking streams no two run at once, if a short one is launched in "
              "the legacy default stream after each.",
          .why = "A stray launch costs all concurrency, however short it is: compile per-thread, or name a stream.",
          .claim = Claim::must,
          .run = [](Workbench& bench) -> Observation {
            auto intervals = kernels_and_strays(bench, bench.device().legacy_default_stream());
            auto verdict = one_after_another(intervals);
            strays_of(intervals);
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

Experiment stray_per_thread() {
  return {
      .name = "stray-per-thread",
      .expectation = "All eight run at once, if the short ones are launched in the thread's own default stream.",
      .why = "Launches that name no stream go there in code compiled per-thread; stray_launch is compiled both ways.",
      .claim = Claim::may,
      .run = [](Workbench& bench) -> Observation {
        auto intervals = kernels_and_strays(bench, bench.device().per_thread_default_stream());
        auto const strays = strays_of(intervals);
        auto verdict = all_at_once({intervals.begin(), strays});
        return {std::move(intervals), {}, std::move(verdict)};
      }};
}

Experiment threads_legacy() {
  return {.name = "threads-legacy",
          .expectation =
              "Kernels of eight host threads run one after another, if each thread launches in the legacy "
              "default stream.",
          .why = "Threads alone bring no concurrency to a program that is compiled the legacy way and names no stream.",
          .claim = Claim::must,
          .run = [](Workbench& bench) -> Observation {
            auto intervals =
                kernel_of_each_thread(bench, [](Device& device) { return device.legacy_default_stream(); });
            auto verdict = one_after_another(intervals);
            sort_by_row(intervals);
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

Experiment threads_per_thread() {
  return {
      .name = "threads-per-thread",
      .expectation = "Kernels of eight host threads run at once, if each thread launches in its own default stream.",
      .why =
          "Launches that name no stream go there in code compiled per-thread, so several threads make it concurrent.",
      .claim = Claim::may,
      .run = [](Workbench& bench) -> Observation {
        auto intervals =
            kernel_of_each_thread(bench, [](Device& device) { return device.per_thread_default_stream(); });
        auto verdict = all_at_once(intervals);
        sort_by_row(intervals);
        return {std::move(intervals), {}, std::move(verdict)};
      }};
}

Experiment library_joins() {
  return {.name = "library-joins",
          .expectation =
              "A library that uses the legacy default stream waits for all threads' own default streams, and "
              "makes them all wait.",
          .why =
              "A per-thread default stream is a blocking one: compiling per-thread protects from one's own launches, "
              "not from a library's.",
          .claim = Claim::must,
          .run = [](Workbench& bench) -> Observation {
            auto call = call_among_threads(bench, [&](unsigned) { return bench.device().per_thread_default_stream(); });
            auto verdict = stands_between(call.before(), call.library(), call.after());
            return {std::move(call.all), {}, std::move(verdict)};
          }};
}

Experiment library_beside() {
  return {.name = "library-beside",
          .expectation = "The same library runs beside threads that have non-blocking streams of their own.",
          .why = "Where a library cannot be given a stream, only non-blocking streams keep away from it.",
          .claim = Claim::may,
          .run = [](Workbench& bench) -> Observation {
            std::vector<Stream> own;
            for (unsigned i = 0; i < callers; ++i) own.push_back(bench.device().make_stream());
            auto call = call_among_threads(bench, [&](unsigned i) -> StreamRef { return own[i]; });
            auto const beside = [&](std::span<Interval const> some) {
              std::vector<Interval> with_library(some.begin(), some.end());
              with_library.push_back(call.library());
              return all_at_once(with_library);
            };
            auto verdict = both(beside(call.before()), beside(call.after()));
            return {std::move(call.all), {}, std::move(verdict)};
          }};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
