// SPDX-License-Identifier: Apache-2.0
// Two streams. Each copies an array to the device, doubles it there, and copies it back. Order holds within a stream
// only, so the device may do one step of each stream at the same time. The first argument names the device.
#include <cstdio>

#include "floats.hpp"
#include "late_clock.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t size = std::size_t{1} << 20;
  PinnedFloats const host_a(*device, size, 1), host_b(*device, size, 2);
  DeviceFloats const device_a(*device, size), device_b(*device, size);
  Event const a_back = device->make_event({.timing = true}), b_there = device->make_event({.timing = true});
  // Streams are made last, so they are destroyed first: a stream's destructor waits for its work.
  Stream const first = device->make_stream(), second = device->make_stream();
  sum_prepare(first);  // This loads the kernel; its first launch would wait for that.

  upload(device_a.values(), host_a.values(), first);
  sum(device_a.values(), device_a.values(), device_a.values(), first);
  download(host_a.values(), device_a.values(), first);
  first.record(a_back);

  upload(device_b.values(), host_b.values(), second);
  second.record(b_there);
  sum(device_b.values(), device_b.values(), device_b.values(), second);
  download(host_b.values(), device_b.values(), second);

  // None of these calls has waited for the device. The host must, before it reads the results.
  first.synchronize();
  second.synchronize();
  bool const right = all_are(2, host_a.values()) && all_are(4, host_b.values());
  std::printf("a[0] = %.1f, b[0] = %.1f: %s\n", host_a.values()[0], host_b.values()[0], right ? "right" : "wrong");
  bool const overlap = milliseconds(b_there, a_back) > 0;
  std::printf("b was there %s a was back%s\n", overlap ? "before" : "after",
              judged(*device, overlap ? ": overlap" : ": no overlap").c_str());
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
