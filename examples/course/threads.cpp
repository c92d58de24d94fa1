// SPDX-License-Identifier: Apache-2.0
// Eight threads launch a kernel each and name no stream. Compiled twice, as trio.cpp. The first argument is cpu or a
// model; on a GPU run threads_cuda.
#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <vector>

#include "timed_kernel.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "cpu");
  constexpr std::size_t threads = 8;
  std::array<TimedKernel, threads> kernels;
  std::vector<std::future<void>> done;
  for (TimedKernel& kernel : kernels) {
    done.push_back(std::async(std::launch::async, [&] {
      device->attach();  // Each thread says which device it means.
      StreamRef const zero = device->thread_default_stream();
      kernel.launch(zero);
      zero.synchronize();  // It waits for its own kernel only, if the stream is its own.
    }));
  }
  for (std::future<void>& one : done) one.get();  // An error of the thread is thrown here.

  // The order of the threads differs from run to run.
  std::ranges::sort(kernels, [](TimedKernel const& one, TimedKernel const& other) { return one.began_before(other); });
  std::size_t in_turn = 0;
  for (std::size_t i = 1; i < threads; ++i) in_turn += kernels[i].ran_after(kernels[i - 1]) ? 1 : 0;
  std::printf("0 is the %s default stream\n", flavour_name(device->flavour()).data());
  std::printf("%zu of 7 kernels waited for the one before\n", in_turn);
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
