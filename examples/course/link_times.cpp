// SPDX-License-Identifier: Apache-2.0
// Copies over each link of a device, by events: up, down, and to a second device if two are named. A copy of 4 bytes
// takes the latency of the link, one of 64 MiB shows its rate. The first argument names the devices.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include "floats.hpp"
#include "late_clock.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

constexpr std::size_t large = std::size_t{16} << 20;  // Floats.

/// Least time of some copies, in milliseconds.
double least(StreamRef stream, EventRef start, EventRef end, std::function<void()> const& copy) {
  double time = 1e9;
  for (int i = 0; i < 3; ++i) {
    stream.record(start);
    copy();
    stream.record(end);
    end.wait();
    time = std::min(time, milliseconds(start, end));
  }
  return time;
}

void tell(Device& device, char const* link, StreamRef stream, std::function<void(std::size_t)> const& copy) {
  Event const start = device.make_event({.timing = true}), end = device.make_event({.timing = true});
  warm_up(device, [&] { copy(large), stream.synchronize(); });
  constexpr int copies = 16;  // So the stream has work while the host makes the calls.
  double const empty = least(stream, start, end,
                             [&] {
                               for (int i = 0; i < copies; ++i) copy(1);
                             }) /
                       copies,
               full = least(stream, start, end, [&] { copy(large); }), bytes = sizeof(float) * large;
  std::printf("%s: 4 bytes %.2f us, 64 MiB %.3f ms, so %.1f GB/s, and 1 GB takes %.2f ms%s\n", link, 1000 * empty, full,
              bytes / full / 1e6, full * 1e9 / bytes, judged(device, "").c_str());
}

}  // namespace

int main(int count, char** arguments) try {
  Devices const devices = open_devices(count > 1 ? arguments[1] : "auto");
  Device &one = devices.front(), &two = *devices.all().back();
  one.attach();
  PinnedFloats const host(one, large, 1);
  DeviceFloats const memory(one, large);
  Stream const stream = one.make_stream();
  tell(one, "up", stream, [&](std::size_t n) { upload(memory.part(0, n), host.part(0, n), stream); });
  tell(one, "down", stream, [&](std::size_t n) { download(host.part(0, n), memory.part(0, n), stream); });
  if (&one == &two) return 0;
  two.attach();
  DeviceFloats const there(two, large);
  Stream const across = two.make_stream();
  tell(two, "to the other device", across,
       [&](std::size_t n) { across.copy(there.part(0, n).as<std::byte>(), memory.part(0, n).as<std::byte const>()); });
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
