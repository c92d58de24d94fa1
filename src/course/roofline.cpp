// SPDX-License-Identifier: Apache-2.0
// Experiment: the intensity from which arithmetic bounds a kernel instead of memory.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "course/experiment.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"
#include "kernels/basic/multiply_add.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr int repetitions = 3;

/// Whole numbers whose sums with any number of the rounds fit exactly into floats.
float number(std::size_t i) {
  return static_cast<float>(i % 97);
}

/// Number of wrong values among the first results.
std::size_t count_wrong(std::span<float const> results, std::uint32_t rounds) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] != number(i) + static_cast<float>(rounds)) ++wrong;
  }
  return wrong;
}

std::string label(double flops_per_byte) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", flops_per_byte);
  return text;
}

Observation raise_the_intensity(Workbench& bench) {
  // This is more than the caches of a GPU hold, and no more than a CPU reads in some milliseconds.
  bool const gpu = bench.device().info().acts_as_gpu();
  std::size_t const count = std::size_t{1} << (gpu ? 24 : 20);
  std::vector<std::uint32_t> const all_rounds =
      gpu ? std::vector<std::uint32_t>{4, 16, 64, 256, 1024, 4096} : std::vector<std::uint32_t>{1, 4, 16, 64, 256};
  constexpr std::size_t sample = multiply_add_sample;
  PinnedMemory const pinned(bench.device(), sample * sizeof(float));
  DeviceMemory const memory = bench.device().allocate(2 * count * sizeof(float));
  auto const here = as_floats(pinned.bytes()).first(sample);
  auto const from = as_floats(memory.bytes()).first(count), to = as_floats(memory.bytes()).subspan(count, count);
  Stream const stream = bench.device().make_stream();
  multiply_add_prepare(stream);
  for (std::size_t i = 0; i < sample; ++i) here[i] = number(i);
  stream.upload(std::as_writable_bytes(from), std::as_bytes(here));
  // The first run does not count, as clocks rise and memory is touched.
  multiply_add(from, all_rounds.back(), to, stream);
  stream.synchronize();

  double const bytes = 2.0 * static_cast<double>(count) * sizeof(float);
  std::vector<RooflinePoint> points;
  std::size_t wrong = 0;
  for (std::uint32_t const rounds : all_rounds) {
    points.push_back({.flops_per_byte = multiply_add_flops(rounds, count) / bytes});
    for (int i = 0; i < repetitions; ++i) {
      bench.timed("kernel", label(points.back().flops_per_byte), stream,
                  [&] { multiply_add(from, rounds, to, stream); });
    }
    stream.download(std::as_writable_bytes(here), std::as_bytes(to).first(sample * sizeof(float)));
    stream.synchronize();
    wrong += count_wrong(here, rounds);
  }

  // The shortest of each kind counts: a disturbance makes a kernel longer.
  auto const all = bench.intervals();
  std::vector<Interval> shortest;
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto const some = std::span(all).subspan(i * repetitions, repetitions);
    shortest.push_back(*std::ranges::min_element(some, {}, &Interval::length));
    points[i].time = shortest.back().length();
    figures.push_back({shortest.back().label + " operations a byte",
                       std::chrono::duration<double, std::milli>(points[i].time).count(), "ms"});
  }
  start_at_zero(shortest);
  auto verdict = verdict_on_roofline(points, bytes, wrong, gpu);
  return {std::move(shortest), std::move(figures), std::move(verdict)};
}

}  // namespace

Experiment roofline() {
  return {.name = "roofline",
          .expectation =
              "Kernels that read and write the same bytes take the same time, whatever they compute, up to as many "
              "operations a byte as the device does while a byte passes; beyond that, time grows with the operations.",
          .why =
              "Below that point fewer bytes make a kernel faster, above it fewer operations. On the CPU device only "
              "the growth is judged, since others use its CPUs too.",
          .claim = Claim::may,
          .run = raise_the_intensity};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
