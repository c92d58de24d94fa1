// SPDX-License-Identifier: Apache-2.0
// The time of a kernel that adds two vectors: by events, which the device passes, and by the clock of the host, which
// only sees the call return. The first argument names the device.
#include <cstdio>

#include "floats.hpp"
#include <penstock/clock.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t size = std::size_t{1} << 22;
  PinnedFloats const host_a(*device, size, 1), host_b(*device, size, 2), host_c(*device, size);
  DeviceFloats const a(*device, size), b(*device, size), c(*device, size);
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  Stream const stream = device->make_stream();
  sum_prepare(stream);
  upload(a.values(), host_a.values(), stream);
  upload(b.values(), host_b.values(), stream);
  sum(a.values(), b.values(), c.values(), stream);  // The first launch takes the host longer than others.
  stream.synchronize();

  auto const called = Clock::now();
  stream.record(start);
  sum(a.values(), b.values(), c.values(), stream);
  stream.record(end);
  auto const returned = Clock::now();
  bool const too_early = !end.since(start).has_value();  // There is no time until the device has passed both.
  end.wait();

  std::printf("the calls returned after %.3f ms%s\n",
              std::chrono::duration<double, std::milli>(returned - called).count(),
              too_early ? ", before the kernel had ended" : "");
  std::printf("the kernel took %.3f ms\n", milliseconds(start, end));

  download(host_c.values(), c.values(), stream);
  stream.synchronize();
  bool const right = all_are(3, host_c.values());
  std::printf("c[0] = %.1f: %s\n", host_c.values()[0], right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
