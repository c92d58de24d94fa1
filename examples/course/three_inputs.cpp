// SPDX-License-Identifier: Apache-2.0
// Three inputs come on three streams. The kernels that add them are in the third, so two events are enough: its own
// copy is before them anyway. The first argument names the device.
#include <cstdio>

#include "floats.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t size = std::size_t{1} << 20;
  PinnedFloats const host_a(*device, size, 1), host_b(*device, size, 20), host_c(*device, size, 300);
  DeviceFloats const a(*device, size), b(*device, size), c(*device, size);
  Event const a_there = device->make_event(), b_there = device->make_event();
  Stream const first = device->make_stream(), second = device->make_stream(), third = device->make_stream();

  upload(a.values(), host_a.values(), first);
  first.record(a_there);
  upload(b.values(), host_b.values(), second);
  second.record(b_there);
  upload(c.values(), host_c.values(), third);

  third.wait(a_there);
  sum(a.values(), c.values(), c.values(), third);
  third.wait(b_there);  // The first kernel needs no b, so only the second one waits for it.
  sum(b.values(), c.values(), c.values(), third);
  download(host_c.values(), c.values(), third);

  third.synchronize();  // The other two streams are through as well: the kernels waited for them.
  bool const right = all_are(321, host_c.values());
  std::printf("a + b + c = %.0f: %s\n", host_c.values()[0], right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
