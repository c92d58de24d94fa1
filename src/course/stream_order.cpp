// SPDX-License-Identifier: Apache-2.0
// Experiments: ways to order work across streams.
#include "course/experiment.hpp"
#include "course/workbench.hpp"
#include "penstock/kernels.hpp"

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

  // The kernel would find zeros if it did not wait.
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

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
