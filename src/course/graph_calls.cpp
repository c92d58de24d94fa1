// SPDX-License-Identifier: Apache-2.0
// Experiment: the same work by calls, and captured as a graph.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "course/experiment.hpp"
#include "course/part_work.hpp"
#include "engine/core/host_time.hpp"
#include "engine/core/quantile.hpp"
#include "penstock/kernels.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// The work is small: a call takes longer than the work that it starts.
constexpr std::size_t floats = 1024;
constexpr std::size_t bytes = floats * sizeof(float);
constexpr int kernels = 20;
constexpr int repetitions = 5;
/// Time of the calls in times of a graph's, by a text on streams in production: 10 to 50.
constexpr double text_ratio = 10;

/// One slot: an input, memory of the device, and an output.
class Slot {
 public:
  explicit Slot(Device& device) : host_(device, 2 * bytes), memory_(device.allocate(bytes)) {}

  /// Threads: when the device is not at it.
  void renew(int content) {
    std::ranges::fill(as_floats(input()), static_cast<float>(content));
    std::ranges::fill(as_floats(output()), 0.0F);
    HostTime::forget();
  }
  /// A kernel adds one, to a few units in the last place.
  bool right(int content, int added) const {
    bool const right = std::ranges::all_of(as_floats(output()), [&](float value) {
      return std::abs(value - static_cast<float>(content + added)) < 1e-3F;
    });
    HostTime::forget();
    return right;
  }
  void upload(StreamRef stream) { stream.upload(memory_.bytes(), input()); }
  void add_one(StreamRef stream) { transform(as_floats(memory_.bytes()), 0, as_floats(memory_.bytes()), stream); }
  void download(StreamRef stream) { stream.download(output(), memory_.bytes()); }

 private:
  std::span<std::byte> input() const { return host_.bytes().first(bytes); }
  std::span<std::byte> output() const { return host_.bytes().last(bytes); }

  PinnedMemory const host_;
  DeviceMemory const memory_;
};

/// Some work on a slot, and the number of times that a kernel of it adds one.
struct Work {
  std::string name;
  int added;
  std::size_t operations;
  std::function<void(StreamRef)> enqueue;
};

struct Times {
  double calls = 0;  ///< Time of the host, in microseconds.
  double graph = 0;
  int wrong = 0;
  std::size_t captured = 0;
};

/// Time that the host needs for `issue`, which it does `repetitions` times.
double host_time(Workbench& bench, StreamRef stream, std::string const& row, std::string const& label,
                 std::function<void(int)> const& prepare, std::function<void()> const& issue,
                 std::function<void(int)> const& check) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    prepare(i);
    auto const start = HostClock::now();
    issue();
    auto const end = HostClock::now();
    if (i + 1 == repetitions) bench.note(row, label, start, end);
    stream.synchronize();
    check(i);
    times.push_back(std::chrono::duration<double, std::micro>(end - start).count());
  }
  return quantile<double>(times, 0.5);
}

Times both_ways(Workbench& bench, Slot& slot, Work const& work, bool copies_itself) {
  Stream const stream = bench.device().make_stream(), captures = bench.device().make_stream();
  captures.begin_capture();
  work.enqueue(captures);
  Capture const graph = captures.end_capture();
  Times times{.captured = graph.operations()};
  auto const prepare = [&](int content) {
    slot.renew(content);
    if (!copies_itself) slot.upload(stream);
    stream.synchronize();
    HostTime::forget();
  };
  auto const check = [&](int content) {
    if (!copies_itself) slot.download(stream);
    stream.synchronize();
    if (!slot.right(content, work.added)) ++times.wrong;
  };
  // The first launch does not count, so that both find all loaded.
  stream.launch(graph);
  stream.synchronize();
  times.calls = host_time(
      bench, stream, "calls", work.name, prepare, [&] { work.enqueue(stream); }, check);
  times.graph = host_time(
      bench, stream, "graph", work.name, prepare, [&] { stream.launch(graph); }, check);
  return times;
}

Observation call_and_launch(Workbench& bench) {
  Slot slot(bench.device());
  {
    Stream const stream = bench.device().make_stream();
    transform_prepare(stream);
  }
  Work const many{"20 kernels", kernels, kernels, [&](StreamRef stream) {
                    for (int i = 0; i < kernels; ++i) slot.add_one(stream);
                  }};
  Work const whole{"a slot", 1, 3, [&](StreamRef stream) {
                     slot.upload(stream);
                     slot.add_one(stream);
                     slot.download(stream);
                   }};
  auto const of_many = both_ways(bench, slot, many, false), of_whole = both_ways(bench, slot, whole, true);
  int const wrong = of_many.wrong + of_whole.wrong, all = 4 * repetitions;
  bool const complete = of_many.captured == many.operations && of_whole.captured == whole.operations;
  Verdict const content = certainly({wrong == 0, std::to_string(all - wrong) + " of " + std::to_string(all) +
                                                     " results are right by calls and by graphs"});
  Verdict const size = certainly({complete, "the graphs have " + std::to_string(of_many.captured) + " and " +
                                                std::to_string(of_whole.captured) + " operations"});
  // The CPU device has no driver whose calls a graph could save.
  bool const saves = of_many.graph < of_many.calls;
  Verdict const gain{
      saves || !bench.device().info().acts_as_gpu(),
      std::string("a launch of the graph kept the host for ") + (saves ? "less" : "no less") + " time than 20 calls"};
  return {bench.intervals(),
          // A graph is one call, and takes as long at best.
          {{"20 kernels by calls", of_many.calls, "us", {}, of_many.calls},
           {"20 kernels as a graph", of_many.graph, "us", {}, of_many.calls / kernels},
           {"20 kernels, calls by graph", of_many.calls / of_many.graph, "", text_ratio, kernels},
           {"copy, kernel, copy by calls", of_whole.calls, "us"},
           {"copy, kernel, copy as a graph", of_whole.graph, "us"}},
          both(both(content, size), gain)};
}

}  // namespace

Experiment graph_calls() {
  return {.name = "graph-calls",
          .expectation =
              "Twenty small kernels, and the copy, kernel and copy of a slot, give the same results by calls and as "
              "graphs, for content that is new each time; on a GPU the launch of a graph keeps the host for less time "
              "than the twenty calls.",
          .why =
              "Where calls take longer than what they ask for, the host is the bound; a graph is one call. With two or "
              "three steps it may save nothing.",
          .claim = Claim::may,
          .run = call_and_launch};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
