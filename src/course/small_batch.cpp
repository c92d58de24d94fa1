// SPDX-License-Identifier: Apache-2.0
#include "course/small_batch.hpp"

#include <array>
#include <chrono>
#include <vector>

#include "engine/core/quantile.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using namespace std::chrono_literals;
using Microseconds = std::chrono::duration<double, std::micro>;

/// Times of a small batch, from the first call until the host knows that it is done: medians.
struct BatchSeen {
  Microseconds whole{};   ///< In one stream.
  Microseconds halves{};  ///< As two halves in two streams.
};

/// A batch of some KiB with a kernel that takes that long for all of it.
BatchSeen seen_of_a_batch(Workbench& bench, std::chrono::nanoseconds kernel) {
  constexpr std::size_t bytes = 4096, repetitions = 25;
  PinnedMemory const host(bench.device(), bytes);
  DeviceMemory const memory = bench.device().allocate(bytes);
  std::array const streams{bench.device().make_stream(), bench.device().make_stream()};
  auto const time_of = [&](std::size_t parts) {
    std::vector<Microseconds> times;
    for (std::size_t i = 0; i < repetitions; ++i) {
      auto const began = HostClock::now();
      for (std::size_t part = 0; part < parts; ++part) {
        std::size_t const size = bytes / parts;
        streams[part].upload(memory.bytes().subspan(part * size, size), host.bytes().subspan(part * size, size));
        bench.occupy("kernel", kernel / static_cast<int>(parts), streams[part]);
      }
      for (std::size_t part = 0; part < parts; ++part) streams[part].synchronize();
      times.emplace_back(HostClock::now() - began);
    }
    return quantile<Microseconds>(times, 0.5);
  };
  time_of(2);  // This touches memory for the first time.
  return {time_of(1), time_of(2)};
}

}  // namespace

Observation halves_of_small_batches(Workbench& bench) {
  constexpr double text = 50;  // A text has that as a rough guide.
  BatchSeen const small = seen_of_a_batch(bench, 5us);
  bool const whole_is_faster = small.whole < small.halves;
  Observation seen;
  seen.figures = {{"a batch with a kernel of 5 us, whole in one stream", small.whole.count(), "us"},
                  {"its halves in two streams", small.halves.count(), "us"}};
  seen.verdict = {whole_is_faster, std::string("a small batch was faster ") +
                                       (whole_is_faster ? "whole than in halves" : "in halves than whole")};
  for (auto const kernel : {10us, 15us, 20us, 30us, 40us, 50us, 75us, 100us, 200us, 400us}) {
    BatchSeen const batch = seen_of_a_batch(bench, kernel);
    if (batch.halves >= batch.whole) continue;
    seen.figures.push_back({"halves are faster from a kernel of", Microseconds(kernel).count(), "us", text});
    break;
  }
  return seen;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
