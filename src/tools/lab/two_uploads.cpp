// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "penstock/kernels/sum.hpp"
#include "tools/lab/experiments.hpp"
#include "tools/lab/pinned_memory.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t count = std::size_t{1} << 20;
constexpr std::size_t bytes = count * sizeof(float);

/// Three pieces of memory: two inputs and their sum.
struct Three {
  explicit Three(std::span<std::byte> all)
      : one(all.first(bytes)), other(all.subspan(bytes, bytes)), sum(all.subspan(2 * bytes, bytes)) {}
  std::span<std::byte> one, other, sum;
};

/// Whole numbers up to 3 * 2^20, which floats hold exactly.
float expected_sum(std::size_t i) {
  return static_cast<float>(3 * i);
}

Verdict verdict_on(std::span<float const> sums) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (sums[i] != expected_sum(i)) ++wrong;
  }
  if (wrong == 0) return {true, "all " + std::to_string(count) + " sums are right"};
  return {false, std::to_string(wrong) + " of " + std::to_string(count) + " sums are wrong"};
}

Observation run(Workbench& bench) {
  PinnedMemory const pinned(bench.device(), 3 * bytes);
  DeviceMemory const memory = bench.device().allocate(3 * bytes);
  Three const here(pinned.bytes()), there(memory.bytes());
  Stream const one = bench.device().make_stream();
  Stream const other = bench.device().make_stream();
  Stream const third = bench.device().make_stream();

  // What the kernel would find if it did not wait: zeros.
  third.upload(memory.bytes(), pinned.bytes());
  third.synchronize();
  for (std::size_t i = 0; i < count; ++i) {
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
          .run = run};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
