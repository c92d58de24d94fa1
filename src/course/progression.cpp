// SPDX-License-Identifier: Apache-2.0
// Experiment: the same work from pageable memory in one stream to a graph over three, each way with its time.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "course/experiment.hpp"
#include "course/gain.hpp"
#include "course/part_work.hpp"
#include "engine/core/host_time.hpp"
#include "engine/core/quantile.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::nanoseconds;

constexpr std::size_t parts = 16;
constexpr std::size_t page = 4096;
constexpr std::size_t most_bytes = std::size_t{28} << 20;
constexpr int repetitions = 3;
constexpr int first_content = 1;

/// A way to do the work.
struct Way {
  std::string name;
  bool pinned;
  std::size_t streams;
  bool graph = false;
};

/// Parts that are copied up, stay with a kernel that fills the device, and are copied down.
class Task {
 public:
  Task(Workbench& bench, std::span<std::byte> host, std::size_t bytes, Time kernel)
      : bench_(bench), host_(host), bytes_(bytes), kernel_(kernel), memory_(bench.device().allocate(parts * bytes)) {}

  /// Puts the parts of a stream into it, which has each `count`th from the first on.
  void issue(StreamRef stream, std::size_t first, std::size_t count) {
    auto const blocks = blocks_that_fill(bench_.device().info());
    for (std::size_t part = first; part < parts; part += count) {
      stream.upload(there(part), here(part));
      bench_.occupy("kernel", kernel_, stream, blocks);
      stream.download(here(parts + part), there(part));
    }
  }
  void renew(int content) {
    std::memset(host_.data(), content, host_.size() / 2);
    std::memset(host_.data() + host_.size() / 2, 0, host_.size() / 2);
    HostTime::forget();  // Preparations and checks are not work of the host.
  }
  bool right() const {
    bool const right = std::memcmp(host_.data(), host_.data() + host_.size() / 2, host_.size() / 2) == 0;
    HostTime::forget();
    return right;
  }

 private:
  std::span<std::byte> here(std::size_t part) const { return host_.subspan(part * bytes_, bytes_); }
  std::span<std::byte> there(std::size_t part) const { return memory_.bytes().subspan(part * bytes_, bytes_); }

  Workbench& bench_;
  std::span<std::byte> const host_;
  std::size_t const bytes_;
  Time const kernel_;
  DeviceMemory const memory_;
};

struct Result {
  Time time{};
  int wrong = 0;
};

/// The time from the first call to the last result: the median.
Result run(Workbench& bench, Task& task, Way const& way) {
  std::vector<Capture> graphs;
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < way.streams; ++i) {
    streams.push_back(bench.device().make_stream());
    if (!way.graph) continue;
    streams[i].begin_capture();
    task.issue(streams[i], i, way.streams);
    graphs.push_back(streams[i].end_capture());
  }
  Result result;
  std::vector<Time> times;
  // The first run does not count: it touches memory and loads graphs.
  for (int i = 0; i <= repetitions; ++i) {
    task.renew(first_content + i);
    auto const start = HostClock::now();
    for (std::size_t stream = 0; stream < way.streams; ++stream) {
      way.graph ? streams[stream].launch(graphs[stream]) : task.issue(streams[stream], stream, way.streams);
    }
    for (Stream const& stream : streams) stream.synchronize();
    auto const end = HostClock::now();
    result.wrong += task.right() ? 0 : 1;
    if (i > 0) times.push_back(end - start);
  }
  result.time = quantile<Time>(times, 0.5);
  return result;
}

Observation go_on_step_by_step(Workbench& bench) {
  // The work of `streams`.
  auto const scaled = scaled_to_fit(bench, {10'200us, 18'500us, 10'200us}, most_bytes);
  std::size_t const bytes = std::max<std::size_t>(scaled.bytes / parts / page, 1) * page;
  PinnedMemory const pinned(bench.device(), 2 * parts * bytes);
  std::vector<std::byte> pageable(2 * parts * bytes);
  std::vector<Way> const ways{{"pageable memory, 1 stream", false, 1},
                              {"pinned memory, 1 stream", true, 1},
                              {"pinned memory, 2 streams", true, 2},
                              {"pinned memory, 3 streams", true, 3},
                              {"the same as graphs", true, 3, true}};
  std::vector<Interval> intervals;
  std::vector<Figure> figures;
  std::vector<Time> times;
  int wrong = 0;
  for (Way const& way : ways) {
    Task task(bench, way.pinned ? pinned.bytes() : std::span(pageable), bytes, scaled.times.kernel / parts);
    auto const result = run(bench, task, way);
    wrong += result.wrong;
    times.push_back(result.time);
    intervals.push_back({way.name, "", Time(0), result.time});
    char factor[16];
    std::snprintf(factor, sizeof factor, "%.2f", milliseconds(times.front()) / milliseconds(result.time));
    figures.push_back({.what = way.name,
                       .value = milliseconds(result.time),
                       .unit = "ms",
                       .beside = {{"times as fast", factor}},
                       .heading = "all of it"});
  }
  int const all = static_cast<int>(ways.size()) * (repetitions + 1);
  Verdict const content = certainly(
      {wrong == 0, std::to_string(all - wrong) + " of " + std::to_string(all) + " runs brought all parts back right"});
  // The CPU device reaches all memory alike, and its copies compete for CPUs.
  bool const judged = bench.device().info().acts_as_gpu();
  bool const faster = 10 * times[1] < 9 * times[0] && 10 * times[2] < 9 * times[1] && 10 * times[3] < 11 * times[2] &&
                      10 * times[4] < 11 * times[3];
  return {std::move(intervals), std::move(figures),
          both(content, {faster || !judged,
                         faster ? "pinned memory and the second stream saved a tenth each, and no step cost one"
                                : "pinned memory or the second stream saved no tenth, or a step cost one"})};
}

}  // namespace

Experiment progression() {
  return {.name = "progression",
          .expectation =
              "The same 16 parts from pageable memory in one stream, from pinned memory, over two and three streams, "
              "and as a graph for each of the three: pinned memory and the second stream save most, the third and "
              "graphs cost nothing. On the CPU device only the results are judged.",
          .why = "Take the steps in this order, and stop where the next one gains nothing.",
          .claim = Claim::may,
          .run = go_on_step_by_step};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
