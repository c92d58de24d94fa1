// SPDX-License-Identifier: Apache-2.0
// Copies alone, and beside kernels that the device's memory bounds. A copy needs no multiprocessor, but both use that
// memory. The first argument names the device.
#include <cstdio>

#include "floats.hpp"
#include "late_clock.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t size = std::size_t{1} << 22, copied = std::size_t{1} << 20;
  PinnedFloats const here(*device, copied, 1);
  DeviceFloats const there(*device, copied), values(*device, size);
  EventOptions const timing{.timing = true};
  Event const copy_start = device->make_event(timing), copy_end = device->make_event(timing);
  Event const kernel_start = device->make_event(timing), kernel_end = device->make_event(timing);
  Stream const copying = device->make_stream(), computing = device->make_stream();
  sum_prepare(computing);

  auto const copy = [&](bool beside) {
    if (beside) {
      computing.record(kernel_start);
      for (int i = 0; i < 40; ++i) sum(values.values(), values.values(), values.values(), computing);
      computing.record(kernel_end);
      copying.wait(kernel_start);
    }
    copying.record(copy_start);
    for (int i = 0; i < 8; ++i) upload(there.values(), here.values(), copying);
    copying.record(copy_end);
    copy_end.wait();
    return 8 * copied * sizeof(float) / 1e6 / milliseconds(copy_start, copy_end);
  };
  warm_up(*device, [&] {
    copy(true);
    computing.synchronize();
  });
  double const alone = copy(false), beside = copy(true);
  std::printf("alone: %.1f GB/s\nbeside kernels: %.1f GB/s%s\n", alone, beside, judged(*device, "").c_str());
  computing.synchronize();
  bool const overlap = milliseconds(copy_end, kernel_end) > 0;
  std::printf("the copies were over %s the kernels\n", overlap ? "before" : "after");
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
