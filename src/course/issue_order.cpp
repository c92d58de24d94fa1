// SPDX-License-Identifier: Apache-2.0
// Experiment: the order in which work of several streams is issued.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
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

using Time = std::chrono::nanoseconds;

constexpr std::size_t streams = 4;
constexpr std::size_t count = std::size_t{1} << 19;  ///< Floats of each stream.
constexpr std::size_t bytes = count * sizeof(float);
constexpr std::size_t steps = 3;  ///< Upload, kernel, download.
constexpr int repetitions = 5;

std::span<std::byte> part(std::span<std::byte> all, std::size_t i) {
  return all.subspan(i * bytes, bytes);
}

enum class Order { depth_first, breadth_first };
/// Places of events: around each piece, whose time is then recorded, or around the whole, with none between kernels.
enum class Events { around_pieces, around_all };

/// Four streams, with their copies and kernels.
class Work {
 public:
  explicit Work(Workbench& bench)
      : bench_(bench),
        host_(bench.device(), 3 * streams * bytes),
        memory_(bench.device().allocate(2 * streams * bytes)),
        start_(bench.device().make_event({.timing = true})) {
    for (std::size_t i = 0; i < streams; ++i) {
      streams_.push_back(bench.device().make_stream());
      ends_.push_back(bench.device().make_event({.timing = true}));
    }
    auto const input = as_floats(host_.bytes().first(streams * bytes));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 97);
    transform_prepare(streams_.front());
  }

  /// Makes kernels take this long from now on, beside what they compute.
  void set_kernel_time(Time time) { kernel_time_ = time; }
  /// Gives each stream, from now on, one kernel that only takes its time: results remain as they are.
  void leave_results() { transforms_ = false; }
  /// Returns: how long it took, to the last of the streams, if events are around all of it.
  /// Blocks:  until the device is through with it.
  Time issue(Order order, Events events) {
    events_ = events;
    bench_.hold(streams_);
    if (events == Events::around_all) streams_.front().record(start_);
    std::array<void (Work::*)(Order, std::size_t), steps> const kinds{&Work::upload, &Work::compute, &Work::download};
    if (order == Order::depth_first) {
      for (std::size_t i = 0; i < streams; ++i) {
        for (auto const kind : kinds) (this->*kind)(order, i);
      }
    } else {
      for (auto const kind : kinds) {
        for (std::size_t i = 0; i < streams; ++i) (this->*kind)(order, i);
      }
    }
    if (events == Events::around_all) {
      for (std::size_t i = 0; i < streams; ++i) streams_[i].record(ends_[i]);
    }
    for (Stream const& stream : streams_) stream.synchronize();
    return events == Events::around_all ? last_end() : Time{};
  }
  /// Number of results of the last run in this order that are wrong.
  std::size_t wrong(Order order) const {
    auto const input = as_floats(host_.bytes().first(streams * bytes));
    auto const output = as_floats(output_of(order));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < input.size(); ++i) {
      // The kernel adds one, to a few units in the last place of 98.
      if (!(std::abs(output[i] - (input[i] + 1)) < 1e-4F)) ++wrong;
    }
    HostTime::forget();
    return wrong;
  }

 private:
  static std::string row(Order order, std::size_t i) {
    return (order == Order::depth_first ? "depth " : "breadth ") + std::to_string(i + 1);
  }
  std::span<std::byte> output_of(Order order) const {
    return host_.bytes().subspan((order == Order::depth_first ? 1 : 2) * streams * bytes, streams * bytes);
  }
  std::span<std::byte> input_there(std::size_t i) const { return part(memory_.bytes(), i); }
  std::span<std::byte> output_there(std::size_t i) const { return part(memory_.bytes(), streams + i); }

  void put(Order order, std::size_t i, char const* label, std::function<void()> const& work) {
    if (events_ == Events::around_all) return work();
    bench_.timed(row(order, i), label, streams_[i], work);
  }
  void upload(Order order, std::size_t i) {
    put(order, i, "up", [&] { streams_[i].upload(input_there(i), part(host_.bytes(), i)); });
  }
  void compute(Order order, std::size_t i) {
    put(order, i, "kernel", [&] {
      if (transforms_) transform(as_floats(input_there(i)), i * count, as_floats(output_there(i)), streams_[i]);
      bench_.occupy("kernel", kernel_time_, streams_[i], blocks_);
    });
  }
  void download(Order order, std::size_t i) {
    put(order, i, "down", [&] { streams_[i].download(part(output_of(order), i), output_there(i)); });
  }
  Time last_end() const {
    Time last{};
    for (Event const& end : ends_) last = std::max(last, end.since(start_).value());
    return last;
  }

  Workbench& bench_;
  std::uint32_t const blocks_ = blocks_that_fill(bench_.device().info());
  Time kernel_time_{};
  PinnedMemory const host_;
  DeviceMemory const memory_;
  Event const start_;
  Events events_{};
  bool transforms_ = true;
  std::vector<Stream> streams_;
  std::vector<Event> ends_;
};

std::vector<PlannedWork> steps_in(Order order, PartTimes const& times, bool ends_together) {
  std::vector<PlannedWork> all;
  for (std::size_t i = 0; i < streams * steps; ++i) {
    bool const depth = order == Order::depth_first;
    std::size_t const kind = depth ? i % steps : i / streams;
    std::array const each{PlannedWork{Unit::up, times.up, {}}, PlannedWork{Unit::compute, times.kernel, {}},
                          PlannedWork{Unit::down, times.down, {}}};
    all.push_back(each[kind]);
    if (kind > 0) all.back().after.push_back(i - (depth ? 1 : streams));
    // The kernels are issued right behind each other, breadth first.
    if (depth || kind != 2 || !ends_together) continue;
    for (std::size_t kernel = streams; kernel < 2 * streams; ++kernel) all.back().after.push_back(kernel);
  }
  return all;
}

/// Expects upload, kernel, download of each stream in this order, whatever the order of issue.
Verdict each_stream_kept_its_order(std::vector<Interval> intervals) {
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](auto const& one, auto const& other) { return one.row < other.row; });
  for (std::size_t i = 0; i < intervals.size(); i += steps) {
    auto verdict = one_after_another(std::span(intervals).subspan(i, steps));
    if (!verdict.as_expected) return certainly(verdict);
  }
  return {true, "each stream kept its order"};
}

/// A difference of less than a tenth from run to run does not count.
bool differ(Time one, Time other) {
  return 10 * std::max(one, other) > 11 * std::min(one, other);
}

std::string comparison(Time depth, Time breadth) {
  if (!differ(depth, breadth)) return "neither order was faster by a tenth";
  double const gain = milliseconds(std::max(depth, breadth)) / milliseconds(std::min(depth, breadth)) - 1;
  char text[64];
  std::snprintf(text, sizeof text, "%s first was faster by %.0f %%", depth < breadth ? "depth" : "breadth", 100 * gain);
  return text;
}

/// Times of both orders, measured or possible.
struct Both {
  Time depth, breadth;
};

/// Properties that matter for the order of issue.
struct Traits {
  CopyEngines engines;
  std::optional<bool> together;  ///< True if kernels that are issued one right behind the other end together.

  bool known() const { return engines.known && together.has_value(); }
  bool ends_together() const { return together.value_or(false); }
  std::string text() const {
    if (!known()) return "not judged, because kernels end here before the host has issued what they should hold";
    return std::string("copies are taken ") +
           (engines.in_order_of_issue ? "in the order of issue" : "as they become ready") +
           (ends_together() ? ", and kernels issued one right behind the other end together" : "");
  }
};

/// Expects of a GPU of which enough is known that the order is faster which can be faster, and neither if neither can
/// be.
Verdict as_possible(DeviceInfo const& info, Traits const& traits, Both const& measured, Both const& possible) {
  bool const alike = differ(measured.depth, measured.breadth) == differ(possible.depth, possible.breadth);
  bool const same = !differ(possible.depth, possible.breadth) ||
                    (measured.depth < measured.breadth) == (possible.depth < possible.breadth);
  return {!info.acts_as_gpu() || !traits.known() || (alike && same),
          comparison(measured.depth, measured.breadth) + "; " + traits.text()};
}

/// Time of a step of each kind by itself, and time of both orders.
struct Times {
  PartTimes own;
  Both both;
};

Times times_of(Workbench& bench, Work& work, int copy_engines) {
  std::vector<Run> runs;
  std::vector<Time> depth, breadth;
  for (int i = 0; i < repetitions; ++i) {
    runs.push_back({bench.pieces(), streams * steps});
    work.issue(Order::depth_first, Events::around_pieces);
    depth.push_back(work.issue(Order::depth_first, Events::around_all));
    breadth.push_back(work.issue(Order::breadth_first, Events::around_all));
  }
  auto const all = bench.intervals();
  std::vector<Interval> pieces;
  for (Run const& run : runs) {
    auto const its = without_waits(run.of(all), copy_engines);
    pieces.insert(pieces.end(), its.begin(), its.end());
  }
  return {shortest(pieces), {quantile<Time>(depth, 0.5), quantile<Time>(breadth, 0.5)}};
}

Observation issue_in_both_orders(Workbench& bench) {
  auto const info = bench.device().info();
  Traits const traits{copy_engines_of(bench), kernels_end_together(bench)};
  CopyEngines const& engines = traits.engines;
  Work work(bench);
  auto const run = [&](Order order) {
    Run const its{bench.pieces(), streams * steps};
    work.issue(order, Events::around_pieces);
    return its;
  };
  // The first run does not count; kernels then take as long as copies.
  Run const warm_up = run(Order::depth_first);
  work.set_kernel_time(shortest(without_waits(warm_up.of(bench.intervals()), engines.count)).up);
  Run const depth = run(Order::depth_first), breadth = run(Order::breadth_first);
  work.leave_results();
  auto const [own, measured] = times_of(bench, work, engines.count);
  Both const possibles{possible(steps_in(Order::depth_first, own, traits.ends_together()), engines),
                       possible(steps_in(Order::breadth_first, own, traits.ends_together()), engines)};

  auto const all = bench.intervals();
  auto issued = depth.of(all);
  auto const then = breadth.of(all);
  issued.insert(issued.end(), then.begin(), then.end());
  auto const wrong = work.wrong(Order::depth_first) + work.wrong(Order::breadth_first);
  auto const results = std::to_string(2 * streams * count);
  Verdict const content =
      certainly({wrong == 0, wrong == 0 ? "all " + results + " results are right"
                                        : std::to_string(wrong) + " of " + results + " results are wrong"});
  return {one_run_behind_the_other({without_waits(depth.of(all), engines.count), without_waits(then, engines.count)}),
          {{"depth first, median of 5", milliseconds(measured.depth), "ms", {}, milliseconds(possibles.depth)},
           {"breadth first, median of 5", milliseconds(measured.breadth), "ms", {}, milliseconds(possibles.breadth)},
           {"copy engines", static_cast<double>(engines.count), ""}},
          both(both(content, each_stream_kept_its_order(issued)), as_possible(info, traits, measured, possibles))};
}

}  // namespace

Experiment issue_order() {
  return {
      .name = "issue-order",
      .expectation =
          "Copy, kernel and copy of four streams give the same results, issued stream by stream or step by step. "
          "Step by step is faster on a GPU with one copy engine that takes copies in the order of issue. Stream by "
          "stream is faster on one with two engines that ends kernels issued one right behind the other together. On "
          "others neither is. On the CPU device, whose copies compete for CPUs, that is told, not judged.",
      .why =
          "Order counts within a stream. One engine for both directions lets an upload wait behind a download whose "
          "kernel has not run; two engines, or one that takes what is ready, do not. The drawing is of runs that "
          "compute, with events around each piece. The times are of runs with events around the whole: an event "
          "between "
          "two kernels lets the first end by itself.",
      .claim = Claim::may,
      .run = issue_in_both_orders};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
