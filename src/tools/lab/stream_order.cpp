// SPDX-License-Identifier: Apache-2.0
// Experiments: what puts work in order across streams.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "penstock/core/quantile.hpp"
#include "penstock/kernels.hpp"
#include "tools/lab/experiment.hpp"
#include "tools/lab/workbench.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t sum_count = std::size_t{1} << 20;
constexpr std::size_t sum_bytes = sum_count * sizeof(float);

/// Three pieces of memory: two inputs and their sum.
struct Three {
  explicit Three(std::span<std::byte> all)
      : one(all.first(sum_bytes)),
        other(all.subspan(sum_bytes, sum_bytes)),
        sum(all.subspan(2 * sum_bytes, sum_bytes)) {}
  std::span<std::byte> one, other, sum;
};

/// Whole numbers up to 3 * 2^20, which floats hold exactly.
float expected_sum(std::size_t i) {
  return static_cast<float>(3 * i);
}

Verdict verdict_on(std::span<float const> sums) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < sum_count; ++i) {
    if (sums[i] != expected_sum(i)) ++wrong;
  }
  if (wrong == 0) return {true, "all " + std::to_string(sum_count) + " sums are right"};
  return {false, std::to_string(wrong) + " of " + std::to_string(sum_count) + " sums are wrong"};
}

Observation add_what_was_uploaded(Workbench& bench) {
  PinnedMemory const pinned(bench.device(), 3 * sum_bytes);
  DeviceMemory const memory = bench.device().allocate(3 * sum_bytes);
  Three const here(pinned.bytes()), there(memory.bytes());
  Stream const one = bench.device().make_stream();
  Stream const other = bench.device().make_stream();
  Stream const third = bench.device().make_stream();

  // What the kernel would find if it did not wait: zeros.
  third.upload(memory.bytes(), pinned.bytes());
  third.synchronize();
  for (std::size_t i = 0; i < sum_count; ++i) {
    as_floats(here.one)[i] = static_cast<float>(i);
    as_floats(here.other)[i] = static_cast<float>(2 * i);
  }
  sum_prepare(third);

  auto const one_there = bench.timed("stream A", "upload A", one, [&] { one.upload(there.one, here.one); });
  bench.kernel("stream B", "delay", other);
  auto const other_there = bench.timed("stream B", "upload B", other, [&] { other.upload(there.other, here.other); });
  third.wait(one_there.end);
  third.wait(other_there.end);
  bench.timed("stream C", "A + B", third,
              [&] { sum(as_floats(there.one), as_floats(there.other), as_floats(there.sum), third); });
  bench.timed("stream C", "download", third, [&] { third.download(here.sum, there.sum); });

  auto intervals = bench.intervals();
  std::vector const uploads{intervals[0], intervals[2]};
  auto verdict =
      both(verdict_on(as_floats(here.sum)), stands_between(uploads, intervals[3], std::span(intervals).last(1)));
  return {std::move(intervals), {}, std::move(verdict)};
}

constexpr std::size_t streams = 4;
constexpr std::size_t count = std::size_t{1} << 19;  ///< Floats of each stream.
constexpr std::size_t bytes = count * sizeof(float);
constexpr std::size_t steps = 3;  ///< Upload, kernel, download.
constexpr int repetitions = 5;

std::span<std::byte> part(std::span<std::byte> all, std::size_t i) {
  return all.subspan(i * bytes, bytes);
}

enum class Order { depth_first, breadth_first };

/// Four streams, and what they copy and compute.
class Work {
 public:
  explicit Work(Workbench& bench)
      : bench_(bench),
        host_(bench.device(), 3 * streams * bytes),
        memory_(bench.device().allocate(2 * streams * bytes)) {
    for (std::size_t i = 0; i < streams; ++i) streams_.push_back(bench.device().make_stream());
    auto const input = as_floats(host_.bytes().first(streams * bytes));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 97);
    transform_prepare(streams_.front());
  }

  /// Blocks: until the device is through with it.
  void issue(Order order) {
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
    for (Stream const& stream : streams_) stream.synchronize();
  }
  /// How many results of the last time in this order are wrong.
  std::size_t wrong(Order order) const {
    auto const input = as_floats(host_.bytes().first(streams * bytes));
    auto const output = as_floats(output_of(order));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < input.size(); ++i) {
      // The kernel adds one, to a few units in the last place of 98.
      if (!(std::abs(output[i] - (input[i] + 1)) < 1e-4F)) ++wrong;
    }
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

  void upload(Order order, std::size_t i) {
    bench_.timed(row(order, i), "up", streams_[i], [&] { streams_[i].upload(input_there(i), part(host_.bytes(), i)); });
  }
  void compute(Order order, std::size_t i) {
    bench_.timed(row(order, i), "kernel", streams_[i],
                 [&] { transform(as_floats(input_there(i)), i * count, as_floats(output_there(i)), streams_[i]); });
  }
  void download(Order order, std::size_t i) {
    bench_.timed(row(order, i), "down", streams_[i],
                 [&] { streams_[i].download(part(output_of(order), i), output_there(i)); });
  }

  Workbench& bench_;
  PinnedMemory const host_;
  DeviceMemory const memory_;
  std::vector<Stream> streams_;
};

double milliseconds_of(std::span<Interval const> run) {
  return std::chrono::duration<double, std::milli>(extent(run)).count();
}

/// Upload, kernel, download of each stream, in this order whatever that of their issue.
Verdict each_stream_kept_its_order(std::vector<Interval> intervals) {
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](auto const& one, auto const& other) { return one.row < other.row; });
  for (std::size_t i = 0; i < intervals.size(); i += steps) {
    auto verdict = one_after_another(std::span(intervals).subspan(i, steps));
    if (!verdict.as_expected) return verdict;
  }
  return {true, "each stream kept its order"};
}

std::string comparison(double depth, double breadth) {
  // What differs by less than a tenth from run to run is no difference.
  double const gain = std::max(depth, breadth) / std::min(depth, breadth) - 1;
  if (gain < 0.1) return "neither order was faster by a tenth";
  char text[64];
  std::snprintf(text, sizeof text, "%s first was faster by %.0f %%", depth < breadth ? "depth" : "breadth", 100 * gain);
  return text;
}

Observation issue_in_both_orders(Workbench& bench) {
  Work work(bench);
  for (int i = 0; i < repetitions; ++i) {
    work.issue(Order::depth_first);
    work.issue(Order::breadth_first);
  }
  auto const all = bench.intervals();
  std::vector<double> depth, breadth;
  for (std::size_t start = 0; start < all.size(); start += 2 * streams * steps) {
    depth.push_back(milliseconds_of(std::span(all).subspan(start, streams * steps)));
    breadth.push_back(milliseconds_of(std::span(all).subspan(start + streams * steps, streams * steps)));
  }

  std::vector<Interval> last(all.end() - 2 * streams * steps, all.end());
  start_at_zero(last);
  auto const wrong = work.wrong(Order::depth_first) + work.wrong(Order::breadth_first);
  auto const results = std::to_string(2 * streams * count);
  Verdict const content{wrong == 0, wrong == 0 ? "all " + results + " results are right"
                                               : std::to_string(wrong) + " of " + results + " results are wrong"};
  auto verdict = both(content, each_stream_kept_its_order(last));
  verdict.fact += "; " + comparison(quantile<double>(depth, 0.5), quantile<double>(breadth, 0.5));
  return {std::move(last),
          {{"depth first, median of 5", quantile<double>(depth, 0.5), "ms"},
           {"breadth first, median of 5", quantile<double>(breadth, 0.5), "ms"},
           {"copy engines", static_cast<double>(bench.device().info().copy_engines), ""}},
          std::move(verdict)};
}

}  // namespace

Experiment two_uploads() {
  return {.name = "two-uploads",
          .expectation =
              "A kernel that adds A and B, uploaded on two streams, finds both there if its own stream waits "
              "for an event behind each upload, however late one of them is.",
          .why = "Events put work of different streams in order while the host goes on.",
          .claim = Claim::must,
          .run = add_what_was_uploaded};
}

Experiment priority() {
  return {.name = "priority",
          .expectation =
              "A kernel in a stream of the greatest priority starts before kernels of the least priority that "
              "were given to the device earlier and find no room yet.",
          .why = "Short work that others wait for gets through a busy device; what runs is not interrupted for it.",
          .claim = Claim::may,
          .run = [](Workbench& bench) -> Observation {
            auto const info = bench.device().info();
            auto const full = blocks_that_fill(info);
            std::vector<Stream> patient;
            for (int i = 0; i < 4; ++i)
              patient.push_back(bench.device().make_stream({.priority = info.least_priority}));
            Stream const urgent = bench.device().make_stream({.priority = info.greatest_priority});
            for (std::size_t i = 0; i < patient.size(); ++i) {
              std::string const name = "low " + std::to_string(i + 1);
              bench.kernel(name, name, patient[i], 1, full);
            }
            bench.kernel("high", "high", urgent);
            auto intervals = bench.intervals();
            auto verdict = overtakes(intervals.back(), std::span(intervals).first(patient.size()));
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

Experiment issue_order() {
  return {.name = "issue-order",
          .expectation =
              "Copy, kernel and copy of four streams give the same results, issued stream by stream or step "
              "by step; which is faster is told, not judged.",
          .why =
              "Order counts within a stream; the order of issue matters across streams only where one copy engine "
              "has to serve both directions.",
          .claim = Claim::must,
          .run = issue_in_both_orders};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
