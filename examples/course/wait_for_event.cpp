// SPDX-License-Identifier: Apache-2.0
// One stream copies, another computes on what was copied. An event puts the two in order, and the host waits for
// neither. The copy is held back, to show what the kernel reads without the event. The first argument names the device.
#include <cstdio>

#include "floats.hpp"
#include "held_stream.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

/// Doubles ones that another stream copies late, and returns the first result.
float twice_one(Device& device, bool wait_for_event) {
  constexpr std::size_t size = std::size_t{1} << 20;
  PinnedFloats const host(device, size), ones(device, size, 1);
  DeviceFloats const values(device, size), results(device, size);
  Event const there = device.make_event();
  Stream const computing = device.make_stream();
  HeldStream held(device);
  StreamRef const copying = held;
  // To load a kernel a GPU may wait for all streams, also for one that is held: so this comes before.
  sum_prepare(computing);
  upload(values.values(), host.values(), computing);  // Zeros are what was there before.
  computing.synchronize();

  held.hold();
  upload(values.values(), ones.values(), copying);
  copying.record(there);
  if (wait_for_event) computing.wait(there);
  sum(values.values(), values.values(), results.values(), computing);
  download(host.values(), results.values(), computing);

  if (!wait_for_event) computing.synchronize();  // The kernel was over before the copy had begun.
  held.let_go();
  computing.synchronize();
  return host.values()[0];
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  float const without = twice_one(*device, false), with = twice_one(*device, true);
  std::printf("without the event: 1 + 1 = %.0f\nwith the event:    1 + 1 = %.0f\n", without, with);
  return without == 0 && with == 2 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
