// SPDX-License-Identifier: Apache-2.0
// Eight kernels in eight streams, and after each a short one that names no stream. Compiled twice, as trio.cpp. The
// first argument is cpu or a model; on a GPU run stray_launch_cuda.
#include <array>
#include <cstdio>
#include <vector>

#include "timed_kernel.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "cpu");
  constexpr std::size_t streams = 8;
  std::array<TimedKernel, streams> kernels, strays;
  StreamRef const zero = device->thread_default_stream();
  std::vector<Stream> own;
  while (own.size() < streams)
    own.push_back(device->make_stream({.blocking = true}));  // cudaStreamCreate makes such streams.

  for (std::size_t i = 0; i < streams; ++i) {
    kernels[i].launch(own[i]);
    strays[i].launch(zero, std::chrono::nanoseconds(0));
  }
  for (Stream const& stream : own) stream.synchronize();
  zero.synchronize();

  std::size_t in_turn = 0;
  for (std::size_t i = 1; i < streams; ++i) in_turn += kernels[i].ran_after(kernels[i - 1]) ? 1 : 0;
  std::printf("0 is the %s default stream\n", flavour_name(device->flavour()).data());
  std::printf("%zu of 7 kernels waited for the one before\n", in_turn);
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
