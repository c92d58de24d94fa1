// SPDX-License-Identifier: Apache-2.0
// Experiments: copy, kernel and copy of parts, over more streams or more buffers, as in texts on streams.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "course/experiment.hpp"
#include "course/part_work.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::nanoseconds;

/// Bytes of the input, and of the output: pinned memory is twice that.
constexpr std::size_t most_bytes = std::size_t{28} << 20;

/// A number of streams, and the time that a text has for all of it.
struct Streams {
  std::size_t count;
  std::optional<Time> text = {};
};

/// Work of a text.
struct TextWork {
  PartTimes times;
  std::size_t parts;
  std::vector<Streams> variants;  ///< Variants, of which the first has one stream.
  std::size_t drawn;              ///< Index of the variant that is drawn.
  /// Speed-up of that variant over the first, as the text has it.
  std::optional<double> times_as_fast = {};
  bool has_steps = false;  ///< The text has the times of the steps; else they follow from others of its times.
};

std::string name_of(std::size_t streams) {
  return streams == 1 ? "1 stream" : std::to_string(streams) + " streams";
}

Run run_over(Workbench& bench, PartWork& work, std::size_t count) {
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < count; ++i) streams.push_back(bench.device().make_stream());
  Run run{.first = bench.pieces()};
  work.renew();
  bench.hold(streams);
  for (std::size_t part = 0, which = 0; part < work.parts(); ++part, which = which + 1 == count ? 0 : which + 1) {
    work.issue("stream " + std::to_string(which + 1), part, streams[which]);
  }
  for (Stream const& stream : streams) stream.synchronize();
  run.count = bench.pieces() - run.first;
  return run;
}

std::vector<PlannedWork> steps_over(std::size_t streams, std::size_t parts, PartTimes const& times) {
  std::vector<PlannedWork> steps;
  for (std::size_t part = 0; part < parts; ++part) {
    std::size_t const first = steps.size();
    std::vector<std::size_t> before;
    if (part >= streams) before.push_back(first - PartWork::steps * (streams - 1) - 1);
    steps.push_back({Unit::up, times.up, before});
    steps.push_back({Unit::compute, times.kernel, {first}});
    steps.push_back({Unit::down, times.down, {first + 1}});
  }
  return steps;
}

/// A line for each step of all parts in one stream: its time in the text, that time here, and its engine.
std::vector<Figure> steps_beside(PartTimes const& text, PartTimes const& part, std::size_t parts, int copy_engines) {
  auto const line = [&](char const* what, Time said, Time one, std::string const& engine) {
    return Figure{.what = what,
                  .value = milliseconds(static_cast<int>(parts) * one),
                  .unit = "ms",
                  .text = milliseconds(said),
                  .beside = {{"engine", copy_engines > 1 || engine == "kernels" ? engine : "copies of both ways"}}};
  };
  return {line("all copies up", text.up, part.up, "copies up"),
          line("all kernels", text.kernel, part.kernel, "kernels"),
          line("all copies down", text.down, part.down, "copies down"),
          {"parts", static_cast<double>(parts), ""}};
}

Observation over_streams(Workbench& bench, TextWork const& text) {
  auto const info = bench.device().info();
  auto const engines = copy_engines_of(bench);
  auto const scaled = scaled_to_fit(bench, text.times, most_bytes);
  PartWork work(bench, text.parts, scaled.bytes / text.parts,
                scaled.times.kernel / static_cast<std::int64_t>(text.parts));
  run_over(bench, work, 1);  // The first run does not count: it touches memory for the first time.
  auto const alone = work.alone();
  std::vector<Run> runs;
  std::size_t wrong = 0;
  for (Streams const& variant : text.variants) {
    runs.push_back(run_over(bench, work, variant.count));
    wrong += work.wrong();
  }

  auto const all = bench.intervals();
  std::vector<Figure> figures{{text.times_as_fast ? "steps of 4 ms, divided by" : "times of the text, divided by",
                               static_cast<double>(scaled.divisor), ""}};
  if (text.has_steps)
    std::ranges::move(steps_beside(scaled.times, alone, text.parts, engines.count), std::back_inserter(figures));
  auto verdict = came_back(wrong, text.variants.size() * text.parts);
  verdict = both(verdict, certainly(one_after_another(runs.front().of(all))));
  Time const serial = extent(runs.front().of(all));
  std::vector<std::pair<Gain, std::string>> gains;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto const& variant = text.variants[i];
    auto const run = without_waits(runs[i].of(all), engines.count);
    auto const steps = steps_over(variant.count, text.parts, alone);
    Gain const gain{serial, possible(steps, engines), extent(run), overlapped(run)};
    std::optional<double> said;
    if (variant.text) said = milliseconds(*variant.text) / scaled.divisor;
    figures.push_back({name_of(variant.count), milliseconds(gain.measured), "ms", said, milliseconds(gain.possible)});
    // Two streams may leave a step of one part with no other to run beside.
    if (variant.count > 2) gains.emplace_back(gain, name_of(variant.count));
    if (text.times_as_fast && i == text.drawn) {
      auto const ratio = [&](Time time, Time one) { return milliseconds(one) / milliseconds(time); };
      figures.push_back({name_of(variant.count) + ", times as fast", ratio(gain.measured, serial), "",
                         text.times_as_fast, ratio(gain.possible, alone.sum() * static_cast<int>(text.parts))});
    }
  }
  auto const& [least, name] = *std::ranges::max_element(gains, {}, [](auto const& one) { return one.first.measured; });
  auto const seen = [&](std::size_t run) { return without_waits(runs[run].of(all), engines.count); };
  // Parts of a longer run would be too short to be seen.
  return {text.parts <= 8 ? below_one_stream(seen(0), seen(text.drawn)) : one_run_behind_the_other({seen(text.drawn)}),
          std::move(figures), both(verdict, saves(info, name, least))};
}

}  // namespace

Experiment streams() {
  return {.name = "streams",
          .expectation =
              "Copy, kernel and copy of 16 parts take their sum in one stream. Over three and more streams they "
              "take little more than their kernels: at least half of what can be saved is saved, which is nothing "
              "where one "
              "copy engine takes copies in the order of issue. On the CPU device, whose copies compete for CPUs, some "
              "of them overlap.",
          .why =
              "One stream uses one unit at a time. How much is left of the copies depends on the number of parts: the "
              "first copy up and the last copy down have nothing to run beside.",
          .claim = Claim::may,
          .run = [](Workbench& bench) {
            // A text on streams in production: an A100, 256 MB; 38.9 ms and 19.8 ms, with two streams in its code.
            return over_streams(bench, {.times = {10'200us, 18'500us, 10'200us},
                                        .parts = 16,
                                        .variants = {{1, 38'900us}, {2, 19'800us}, {3}, {4}, {8}},
                                        .drawn = 3,
                                        .has_steps = true});
          }};
}

Experiment short_kernel() {
  return {.name = "short-kernel",
          .expectation =
              "If copies take longer than kernels, four parts over four streams take as long as the copies of one "
              "direction and a rest: at least half of what can be saved is saved. On the CPU device, whose copies "
              "compete for CPUs, some of them overlap.",
          .why =
              "The link is the bound then, and more streams do not help: less data does. The text saved its kernel "
              "and no more, as if uploads and downloads had shared one engine.",
          .claim = Claim::may,
          .run = [](Workbench& bench) {
            // A blog on streams: an H100, 2^25 floats each way; 6.57 ms, and 4.86 ms with four streams. It has no times
            // of the parts. At the 55.2 GB/s of such a link both copies take 4.86 ms, so the kernel took the rest.
            return over_streams(bench, {.times = {2'431us, 1'703us, 2'431us},
                                        .parts = 4,
                                        .variants = {{1, 6'565us}, {2}, {4, 4'863us}},
                                        .drawn = 2});
          }};
}

Experiment equal_steps() {
  return {.name = "equal-steps",
          .expectation =
              "Four parts over four streams, each with copies that take as long as its kernel, are twice as fast as in "
              "one stream, for six steps take the time of twelve: at least half of what can be saved is saved. On the "
              "CPU device, whose copies compete for CPUs, some of them overlap.",
          .why = "Three units at work are three times as fast only for many parts: the first and the last stand alone.",
          .claim = Claim::may,
          .run = [](Workbench& bench) {
            // A text on streams and events: a picture of four streams, which it says are some 3 times as fast.
            return over_streams(
                bench, {.times = {4ms, 4ms, 4ms}, .parts = 4, .variants = {{1}, {4}}, .drawn = 1, .times_as_fast = 3});
          }};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
