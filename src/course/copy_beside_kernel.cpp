// SPDX-License-Identifier: Apache-2.0
// Experiment: copies beside kernels that fill the device.
#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "course/experiment.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"
#include "kernels/basic/multiply_add.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t copied = std::size_t{4} << 20;
constexpr int copies = 8;

/// Kernels with `rounds` rounds for each float; `kernels` of them last longer than the copies.
struct Beside {
  std::string label;
  std::uint32_t rounds;
  int kernels;
};

/// Times of a kernel that memory bounds, alone and beside another one. Each has half of the multiprocessors, and only a
/// model takes the cost for the work.
std::vector<Figure> kernels_beside(Workbench& bench, std::span<Stream const, 2> streams, std::span<float> floats) {
  DeviceSpan<std::byte const> const memory(std::as_bytes(floats).data(), floats.size_bytes());
  KernelCost const cost{.reads = {memory},
                        .blocks = static_cast<std::uint32_t>(std::max(1, bench.device().info().compute_units / 2)),
                        .block_threads = 2048};
  auto const put = [&](StreamRef stream, std::string const& row, std::string const& label) {
    bench.timed(row, label, stream, [&] {
      stream.launch(
          1, [](std::uint32_t) {}, cost);
    });
  };
  std::size_t const first = bench.pieces();
  bench.hold(streams);
  put(streams[0], "kernel 1", "alone");
  bench.device().synchronize();
  bench.hold(streams);
  put(streams[0], "kernel 1", "beside");
  put(streams[1], "kernel 2", "beside");
  bench.device().synchronize();
  auto const all = bench.intervals();
  auto const microseconds = [&](std::size_t piece) {
    return std::chrono::duration<double, std::micro>(all[piece].length()).count();
  };
  return {{"a kernel that memory bounds, alone", microseconds(first), "us"},
          {"beside another one", microseconds(first + 1), "us"}};
}

Observation copy_beside(Workbench& bench) {
  bool const gpu = bench.device().info().acts_as_gpu();
  std::size_t const count = std::size_t{1} << (gpu ? 24 : 20);
  PinnedMemory const pinned(bench.device(), copied);
  DeviceMemory const to = bench.device().allocate(copied);
  DeviceMemory const memory = bench.device().allocate(2 * count * sizeof(float));
  auto const all = as_floats(memory.bytes());
  std::array<Stream, 2> const streams{bench.device().make_stream(), bench.device().make_stream()};
  Stream const &of_copies = streams[0], &of_kernels = streams[1];
  multiply_add_prepare(of_kernels);
  auto const copy = [&](std::string const& label) {
    bench.timed("copies", label, of_copies, [&] {
      for (int i = 0; i < copies; ++i) of_copies.upload(to.bytes(), pinned.bytes());
    });
  };
  // The first run does not count, since it touches memory.
  of_copies.upload(to.bytes(), pinned.bytes());
  multiply_add(all.first(count), 1, all.subspan(count), of_kernels);
  bench.device().synchronize();
  copy("alone");
  bench.device().synchronize();
  for (Beside const& beside :
       {Beside{"memory", 1, gpu ? 96 : 24}, Beside{"arithmetic", gpu ? 4096U : 256U, gpu ? 6 : 2}}) {
    bench.hold(streams);
    bench.timed("kernels", beside.label, of_kernels, [&] {
      for (int i = 0; i < beside.kernels; ++i)
        multiply_add(all.first(count), beside.rounds, all.subspan(count), of_kernels);
    });
    copy("beside " + beside.label);
    bench.device().synchronize();
  }

  std::vector<Figure> const of_two = bench.device().info().modelled
                                         ? kernels_beside(bench, std::span<Stream const, 2>(streams), all)
                                         : std::vector<Figure>();
  auto intervals = bench.intervals();
  auto const rate = [&](std::size_t piece) {
    return static_cast<double>(copies) * copied / std::chrono::duration<double>(intervals[piece].length()).count();
  };
  CopiesBesideSeen seen{.alone = rate(0), .by_memory = rate(2), .by_arithmetic = rate(4)};
  for (std::size_t const copies_at : {2U, 4U}) {
    seen.beside = seen.beside && all_at_once(std::span(intervals).subspan(copies_at - 1, 2)).as_expected;
  }
  std::vector<Figure> figures{{"copies alone", seen.alone / 1e9, "GB/s"},
                              {"beside kernels that memory bounds", seen.by_memory / 1e9, "GB/s"},
                              {"beside kernels that arithmetic bounds", seen.by_arithmetic / 1e9, "GB/s"}};
  figures.insert(figures.end(), of_two.begin(), of_two.end());
  return {std::move(intervals), std::move(figures), verdict_on_copies_beside(seen)};
}

}  // namespace

Experiment copy_beside_kernel() {
  return {.name = "copy-beside-kernel",
          .expectation =
              "Copies run beside kernels that fill the device, and may be slower beside those that memory bounds.",
          .why =
              "Copies need no multiprocessor, but they need the device's memory. On a model each gets the same part of "
              "what it wants, where that is more than the memory's rate: so the faster the link, the more it shows.",
          .claim = Claim::may,
          .run = copy_beside};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
