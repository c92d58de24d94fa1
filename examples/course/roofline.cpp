// SPDX-License-Identifier: Apache-2.0
// Kernels that read and write the same bytes and compute more and more with them. The time stays the same as long as
// the memory is the bound, and grows once arithmetic is. The first argument is cpu or a model; on a GPU run
// roofline_cuda.
#include <algorithm>
#include <cstdio>

#include "floats.hpp"
#include "late_clock.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

constexpr std::size_t block_size = std::size_t{1} << 16;

/// Does `rounds` multiplications and additions with each float. The CPU device takes the time of the body. A model
/// takes its time from the cost, so the body may leave the work out.
void multiply_add(DeviceSpan<float> values, unsigned rounds, StreamRef stream) {
  auto const body = [=](KernelBlock block) {
    for (float& value : values.in(block).subspan(block * block_size, block_size)) {
      for (unsigned i = 0; i < rounds; ++i) value = value * 0.5F + 1;
    }
  };
  KernelCost const cost{.reads = {values.as<std::byte const>()},
                        .writes = values.as<std::byte const>(),
                        .flops = 2.0 * rounds * static_cast<double>(values.size())};
  if (stream.modelled())
    return stream.launch(
        1, [](std::uint32_t) {}, cost);
  stream.launch(static_cast<std::uint32_t>(values.size() / block_size), body, cost);
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "cpu");
  DeviceFloats const values(*device, std::size_t{1} << (device->info().modelled ? 24 : 20));
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  Stream const stream = device->make_stream();
  warm_up(*device, [&] {
    multiply_add(values.values(), 1, stream);
    stream.synchronize();
  });
  for (unsigned const rounds : {1U, 4U, 16U, 64U, 256U, 1024U}) {
    stream.record(start);
    multiply_add(values.values(), rounds, stream);
    stream.record(end);
    end.wait();
    // Each float is read and written once: 8 bytes for 2 operations a round.
    std::printf("%g operations a byte: %.4f ms%s\n", 2.0 * rounds / 8, milliseconds(start, end),
                judged(*device, "").c_str());
  }
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
