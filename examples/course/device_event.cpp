// SPDX-License-Identifier: Apache-2.0
// A stream of one device waits for an event of another, and copies what is there. The stream of the other one is held
// back, to show what comes without the wait. The first argument names two devices: cpu,cpu or two of a model or GPUs.
#include <cstdio>

#include "floats.hpp"
#include "held_stream.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

/// Ones go to the first device, and from there to the second one: returns what comes to it.
float one_over_two(Device& first, Device& second, bool wait_for_event) {
  constexpr std::size_t size = std::size_t{1} << 20;
  first.attach();
  PinnedFloats const ones(first, size, 1), zeros(first, size);
  DeviceFloats const from(first, size);
  Event const there = first.make_event();
  HeldStream held(first);
  StreamRef const uploading = held;
  upload(from.values(), zeros.values(), uploading);
  uploading.synchronize();

  second.attach();
  PinnedFloats const host(second, size);
  DeviceFloats const to(second, size);
  Stream const copying = second.make_stream();

  first.attach();
  held.hold();
  upload(from.values(), ones.values(), uploading);
  uploading.record(there);

  second.attach();
  if (wait_for_event) copying.wait(there);
  copying.copy(to.values().as<std::byte>(), from.values().as<std::byte const>());
  download(host.values(), to.values(), copying);
  if (!wait_for_event) copying.synchronize();  // The copy was over before the first device had its ones.
  held.let_go();
  uploading.synchronize();
  copying.synchronize();
  return host.values()[0];
}

}  // namespace

int main(int count, char** arguments) try {
  Devices const devices = open_devices(count > 1 ? arguments[1] : "cpu,cpu");
  if (devices.size() < 2) return std::fprintf(stderr, "Name two devices, as in cpu,cpu.\n"), 1;
  Device &first = devices.front(), &second = *devices.all()[1];
  float const without = one_over_two(first, second, false), with = one_over_two(first, second, true);
  std::printf("without the event the second device has %.0f\n", without);
  std::printf("with the event it has %.0f: %s\n", with, with == 1 ? "right" : "wrong");
  return without == 0 && with == 1 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
