// SPDX-License-Identifier: Apache-2.0
// Kernels in two streams. With CUDA_LAUNCH_BLOCKING=1 in the environment each launch waits for its kernel, so the
// second one begins when the first is over. The first argument is cpu or a model; on a GPU CUDA reads the same
// variable.
#include <cstdio>

#include "timed_kernel.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "cpu");
  TimedKernel kernels[2];
  Stream const streams[2] = {device->make_stream(), device->make_stream()};
  for (int i = 0; i < 2; ++i) {
    auto const called = Clock::now();
    kernels[i].launch(streams[i]);
    double const kept = std::chrono::duration<double, std::milli>(Clock::now() - called).count();
    std::printf("launch %d kept the host for %.1f ms, and its kernel %s\n", i + 1, kept,
                streams[i].idle() ? "is over" : "has not ended");
  }
  device->synchronize();
  std::printf("the second kernel ran %s the first\n", kernels[1].place_beside(kernels[0]));
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
