// SPDX-License-Identifier: Apache-2.0
// Twenty-two calls, and the same work captured once and launched by one call. The content of the buffer may change from
// launch to launch, its address may not. The first argument names the device.
#include <cstdio>

#include "floats.hpp"
#include "late_clock.hpp"
#include <penstock/clock.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t size = 1024;
  constexpr int kernels = 20;
  PinnedFloats const host(*device, size);
  DeviceFloats const values(*device, size), ones(*device, size);
  Stream const stream = device->make_stream();
  sum_prepare(stream);
  std::ranges::fill(host.values(), 1.0F);
  upload(ones.values(), host.values(), stream);
  auto const give_work = [&] {
    upload(values.values(), host.values(), stream);
    for (int i = 0; i < kernels; ++i) sum(values.values(), ones.values(), values.values(), stream);
    download(host.values(), values.values(), stream);
  };
  auto const microseconds = [&](auto const& issue) {
    auto const began = Clock::now();
    issue();
    std::chrono::duration<double, std::micro> const time = Clock::now() - began;
    stream.synchronize();
    return time.count();
  };

  stream.begin_capture();
  give_work();  // The stream notes the calls and does nothing.
  Capture const graph = stream.end_capture();
  stream.launch(graph);  // The first launch may take longer; it is not counted.
  stream.synchronize();
  device->remarks();  // What was late so far does not count.
  double const calls = microseconds(give_work), launch = microseconds([&] { stream.launch(graph); });

  bool const right = all_are(1 + 3 * kernels, host.values());
  std::printf("%zu operations by calls: %.2f us of the host, as a graph: %.2f us%s\n", graph.operations(), calls,
              launch, judged(*device, "").c_str());
  std::printf("values[0] = %.1f: %s\n", host.values()[0], right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
