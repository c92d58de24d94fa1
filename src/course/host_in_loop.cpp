// SPDX-License-Identifier: Apache-2.0
// Experiments: a host that fills buffers, waits inside its loop, or is called back.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "course/experiment.hpp"
#include "course/part_work.hpp"
#include "engine/core/event_count.hpp"
#include "engine/core/host_time.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::nanoseconds;

/// A text on streams in production: copies of 100 MB over PCIe 4, and a kernel.
constexpr PartTimes text_times{4ms, 3ms, 4ms};

/// Keeps the calling thread busy for `time`.
void stay(Time time) {
  EventCount never_notified;
  never_notified.await([] { return false; }, Time(0), time);
}

/// Kernels, and work of the host, are longer in later tries: a host that was late does not disprove anything.
Time at_this_try(Workbench const& bench, Time time) {
  return time * std::max<std::int64_t>(1, bench.kernel_time() / WorkbenchOptions().kernel_time);
}

/// A number of buffers, as many streams, and tiles that use them cyclically.
struct Buffers {
  std::size_t count;
  Time measured{};
  Run run{};
};

constexpr std::size_t tiles = 8;
constexpr std::size_t most_buffers = 3;

/// Number of tiles that came back wrong.
std::size_t go_through(Workbench& bench, PartWork& work, Time fill, Buffers& buffers) {
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < buffers.count; ++i) streams.push_back(bench.device().make_stream());
  std::size_t wrong = 0;
  buffers.run.first = bench.pieces();
  HostTime::forget();
  auto const began = HostClock::now();
  for (std::size_t tile = 0; tile < tiles + buffers.count; ++tile) {
    std::size_t const buffer = tile % buffers.count;
    streams[buffer].synchronize();
    if (tile >= buffers.count && !work.right(buffer)) ++wrong;
    if (tile >= tiles) continue;
    auto const start = HostClock::now();
    work.renew(buffer);
    stay(fill);
    bench.note("host", "fill", start, HostClock::now());
    work.issue("buffer " + std::to_string(buffer + 1), buffer, streams[buffer]);
  }
  buffers.measured = HostClock::now() - began;
  buffers.run.count = bench.pieces() - buffers.run.first;
  return wrong;
}

std::vector<PlannedWork> steps_in(std::size_t buffers, PartTimes const& times, Time fill) {
  constexpr std::size_t steps_of_tile = 4;
  std::vector<PlannedWork> steps;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    std::size_t const first = steps.size();
    std::vector<std::size_t> before;
    if (tile >= buffers) before.push_back(first - steps_of_tile * (buffers - 1) - 1);
    steps.push_back({Unit::host, fill, before});
    steps.push_back({Unit::up, times.up, {first}});
    steps.push_back({Unit::compute, times.kernel, {first + 1}});
    steps.push_back({Unit::down, times.down, {first + 2}});
  }
  return steps;
}

Observation with_buffers(Workbench& bench) {
  constexpr std::size_t most_bytes = std::size_t{11} << 20;
  auto const info = bench.device().info();
  auto const engines = copy_engines_of(bench);
  auto const scaled = scaled_to_fit(bench, text_times, most_bytes);
  Time const kernel = at_this_try(bench, scaled.times.kernel), fill = kernel;
  PartWork work(bench, most_buffers, scaled.bytes, kernel);
  Buffers warm_up{most_buffers};
  go_through(bench, work, Time(0), warm_up);
  auto const alone = work.alone();
  std::vector<Buffers> variants{{1}, {2}, {3}};
  std::size_t wrong = 0;
  for (Buffers& variant : variants) wrong += go_through(bench, work, fill, variant);

  auto const all = bench.intervals();
  std::vector<Figure> figures{{"times of the text, divided by", static_cast<double>(scaled.divisor), ""},
                              {"copy, kernel and copy of a tile", milliseconds(alone.sum()), "ms",
                               milliseconds(scaled.times.sum()), milliseconds(alone.sum())}};
  auto verdict = came_back(wrong, variants.size() * tiles);
  for (Buffers const& variant : variants) {
    auto run = variant.run.of(all);
    std::erase_if(run, [](Interval const& piece) { return piece.row == "host"; });
    Gain const gain{variants.front().measured, possible(steps_in(variant.count, alone, fill), engines),
                    variant.measured, overlapped(without_waits(run, engines.count))};
    std::string const name = std::to_string(variant.count) + (variant.count == 1 ? " buffer" : " buffers");
    figures.push_back({name, milliseconds(gain.measured), "ms", {}, milliseconds(gain.possible)});
    if (variant.count > 1) verdict = both(verdict, saves(info, name, gain));
  }
  return {one_run_behind_the_other({without_waits(variants[1].run.of(all), engines.count)}), std::move(figures),
          std::move(verdict)};
}

enum class Waits { inside, behind };

Run loop_that_waits(Workbench& bench, PartWork& work, Waits waits) {
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < work.parts(); ++i) streams.push_back(bench.device().make_stream());
  std::string const row = waits == Waits::inside ? "inside " : "behind ";
  work.renew();
  Run run{.first = bench.pieces()};
  // A host that does not wait is ahead of its device.
  if (waits == Waits::behind) bench.hold(streams);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    work.issue(row + std::to_string(i + 1), i, streams[i]);
    if (waits == Waits::inside) streams[i].synchronize();
  }
  for (Stream const& stream : streams) stream.synchronize();
  run.count = bench.pieces() - run.first;
  return run;
}

Observation wait_inside_and_behind(Workbench& bench) {
  constexpr std::size_t parts = 3;
  constexpr std::size_t most_bytes = std::size_t{11} << 20;
  auto const info = bench.device().info();
  auto const engines = copy_engines_of(bench);
  auto const scaled = scaled_to_fit(bench, text_times, most_bytes);
  PartWork work(bench, parts, scaled.bytes, scaled.times.kernel);
  loop_that_waits(bench, work, Waits::behind);  // The first run does not count.
  auto const alone = work.alone();
  auto const first = loop_that_waits(bench, work, Waits::inside);
  std::size_t wrong = work.wrong();
  auto const second = loop_that_waits(bench, work, Waits::behind);
  wrong += work.wrong();

  std::vector<PlannedWork> steps;
  for (std::size_t i = 0; i < parts; ++i) {
    std::size_t const up = steps.size();
    steps.push_back({Unit::up, alone.up, {}});
    steps.push_back({Unit::compute, alone.kernel, {up}});
    steps.push_back({Unit::down, alone.down, {up + 1}});
  }
  auto const all = bench.intervals();
  auto const run = without_waits(second.of(all), engines.count);
  Time const inside = extent(first.of(all)), behind = extent(run);
  Gain const gain{inside, possible(steps, engines), behind, overlapped(run)};
  auto const scale = static_cast<double>(scaled.divisor);
  return {one_run_behind_the_other({first.of(all), run}),
          {{"times of the text, divided by", scale, ""},
           {"wait inside the loop", milliseconds(inside), "ms", parts * milliseconds(text_times.sum()) / scale,
            milliseconds(serial(steps))},
           {"wait behind the loop", milliseconds(behind), "ms", {}, milliseconds(gain.possible)}},
          both(both(came_back(wrong, 2 * parts), certainly(one_after_another(first.of(all)))),
               saves(info, "the wait behind the loop", gain))};
}

/// Notes the time of the call, and takes some time.
class Called final : public StreamCallback {
 public:
  explicit Called(Time stays) : stays_(stays) {}
  void called(StreamStatus) noexcept override {
    start = HostClock::now();
    if (stays_ > Time(0)) stay(stays_);
    end = HostClock::now();
  }
  HostClock::time_point start, end;

 private:
  Time const stays_;
};

Observation call_back_slowly(Workbench& bench) {
  Called slow(2 * bench.kernel_time()), quick(Time(0));
  std::vector<Stream> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(bench.device().make_stream());
  bench.kernel("stream A", "A 1", streams[0]);
  streams[0].call(slow);
  bench.kernel("stream A", "A 2", streams[0]);
  for (auto const* const label : {"B 1", "B 2"}) bench.kernel("stream B", label, streams[1]);
  bench.kernel("stream C", "C", streams[2]);
  streams[2].call(quick);
  for (Stream const& stream : streams) stream.synchronize();

  auto intervals = bench.intervals();
  // Each is on one clock: the device's pause, and the host's call.
  Time const pause = intervals[1].start - intervals[0].end, call = slow.end - slow.start;
  Verdict const own =
      certainly({pause >= call - call / 100,
                 "the next kernel of its stream started " + time_text(pause) + " after the one before it, which is " +
                     (pause >= call - call / 100 ? "no" : "") + " less than the " + time_text(call) + " of the call"});
  Verdict const others{before(intervals[3], intervals[1]),
                       "the second kernel of another stream ended " +
                           time_text(std::chrono::abs(intervals[1].start - intervals[3].end)) +
                           (before(intervals[3], intervals[1]) ? " before" : " after") + " that one started"};
  bench.note("host", "call of A", slow.start, slow.end);
  intervals = bench.intervals();
  return {
      std::move(intervals),
      {{"from the beginning of the call of A to that of a call of C", milliseconds(quick.start - slow.start), "ms"}},
      both(own, others)};
}

}  // namespace

Experiment buffers() {
  return {
      .name = "buffers",
      .expectation =
          "A host that fills a buffer, has it copied, computed and copied back, and waits for it before it fills "
          "it again, is faster with two and three buffers: at least half of what they can save is saved. On the CPU "
          "device, whose copies compete for CPUs, some of the work overlaps.",
      .why =
          "With one buffer host and device take turns. With two the host fills one while the device has the other; "
          "more pay as long as units stand idle.",
      .claim = Claim::may,
      .run = with_buffers};
}

Experiment blocking_loop() {
  return {.name = "blocking-loop",
          .expectation =
              "A loop over streams that waits for each of them takes the sum of all steps; one that waits behind the "
              "loop saves at least half of what can be saved. On the CPU device, whose copies compete for CPUs, some "
              "of the work overlaps.",
          .why = "Streams overlap only what is given to them before the host waits.",
          .claim = Claim::may,
          .run = wait_inside_and_behind};
}

Experiment slow_callback() {
  return {
      .name = "slow-callback",
      .expectation =
          "What stands behind a callback in its stream starts when the callback has returned, and other streams go "
          "on meanwhile; when a callback of another stream is made is told, not judged.",
      .why =
          "A callback is a part of its stream. It should say that something is over, and leave the work to others: a "
          "GPU's driver may have one thread for all callbacks.",
      .claim = Claim::may,
      .run = call_back_slowly};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
