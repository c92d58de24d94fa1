// SPDX-License-Identifier: Apache-2.0
// A host that fills a buffer again: too early, and after the event behind the copy. The stream is held, as a busy
// device would hold it, so that the early fill comes before the copy each time. The first argument names the device.
#include <cstdio>

#include "floats.hpp"
#include "held_stream.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

/// Copies a buffer of ones, fills it with twos, and returns what came to the device.
float value_that_came(Device& device, bool wait) {
  constexpr std::size_t size = std::size_t{1} << 20;
  PinnedFloats const buffer(device, size, 1), result(device, size);
  DeviceFloats const values(device, size);
  Event const copied = device.make_event();
  HeldStream held(device);
  StreamRef const stream = held;

  held.hold();
  upload(values.values(), buffer.values(), stream);  // The call returns at once, and has copied nothing yet.
  stream.record(copied);
  if (wait) {
    held.let_go();
    copied.wait();
  }
  std::ranges::fill(buffer.values(), 2.0F);
  held.let_go();

  download(result.values(), values.values(), stream);
  stream.synchronize();
  return result.values()[0];
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  float const without = value_that_came(*device, false), with = value_that_came(*device, true);
  std::printf("without a wait came %.0f, with a wait %.0f\n", without, with);
  return without == 2 && with == 1 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
