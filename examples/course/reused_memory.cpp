// SPDX-License-Identifier: Apache-2.0
// Memory of the device that a second stream gets while the first has yet to read it. An event behind the read makes it
// safe. The first argument names the device.
#include <cstdio>

#include "floats.hpp"
#include "held_stream.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

/// Doubles ones in memory that is given to another user at once, and returns the first result.
float twice_one(Device& device, bool wait_for_event) {
  constexpr std::size_t size = std::size_t{1} << 20;
  PinnedFloats const ones(device, size, 1), hundreds(device, size, 100), result(device, size);
  DeviceFloats const lent(device, size), doubled(device, size);
  Event const read = device.make_event();
  Stream const second = device.make_stream();
  HeldStream held(device);
  StreamRef const first = held;
  // To load a kernel a GPU may wait for all streams, also for one that is held: so this comes before.
  sum_prepare(second);
  upload(lent.values(), ones.values(), second);
  second.synchronize();

  held.hold();
  sum(lent.values(), lent.values(), doubled.values(), first);
  first.record(read);
  // For the host the first user is through: it has made all its calls. For the device it has not begun.
  if (wait_for_event) second.wait(read);
  upload(lent.values(), hundreds.values(), second);

  if (!wait_for_event) second.synchronize();
  held.let_go();
  download(result.values(), doubled.values(), first);
  first.synchronize();
  return result.values()[0];
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  float const without = twice_one(*device, false), with = twice_one(*device, true);
  std::printf("without the event: 1 + 1 = %.0f\nwith the event:    1 + 1 = %.0f\n", without, with);
  return without == 200 && with == 2 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
