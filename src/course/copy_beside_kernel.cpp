// SPDX-License-Identifier: Apache-2.0
// Experiment: copies beside kernels that fill the device.
#include <array>
#include <span>
#include <string>

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
  return {std::move(intervals), std::move(figures), verdict_on_copies_beside(seen)};
}

}  // namespace

Experiment copy_beside_kernel() {
  return {.name = "copy-beside-kernel",
          .expectation = "Copies run beside kernels that fill the device.",
          .why =
              "Copies need no multiprocessor, but they need the device's memory: kernels that keep it busy may make "
              "them slower. A model has the part that copies keep (beside_kernels); penstock's models state none, so "
              "their copies keep all.",
          .claim = Claim::may,
          .run = copy_beside};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
