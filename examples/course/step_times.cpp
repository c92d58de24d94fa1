// SPDX-License-Identifier: Apache-2.0
// Copy, kernel and copy in one stream, each between two events of its own: what each step takes, and which of them
// could run beside others. The first argument names the device.
#include <cstdio>
#include <vector>

#include "floats.hpp"
#include "late_clock.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t size = std::size_t{1} << 22;
  PinnedFloats const host(*device, size, 1), result(*device, size);
  DeviceFloats const from(*device, size), to(*device, size);
  std::vector<Event> events;
  while (events.size() < 6) events.push_back(device->make_event({.timing = true}));
  Stream const stream = device->make_stream();

  auto const do_steps = [&] {
    stream.record(events[0]);
    upload(from.values(), host.values(), stream);
    stream.record(events[1]);
    stream.record(events[2]);
    sum(from.values(), from.values(), to.values(), stream);
    stream.record(events[3]);
    stream.record(events[4]);
    download(result.values(), to.values(), stream);
    stream.record(events[5]);
    events[5].wait();  // The stream has passed all before it.
  };
  warm_up(*device, do_steps);
  do_steps();
  double const up = milliseconds(events[0], events[1]), kernel = milliseconds(events[2], events[3]),
               down = milliseconds(events[4], events[5]);
  std::printf("copy up: %.3f ms\nkernel: %.3f ms\ncopy down: %.3f ms\n", up, kernel, down);
  std::printf("sum of the steps: %.3f ms, first event to last: %.3f ms%s\n", up + kernel + down,
              milliseconds(events[0], events[5]), judged(*device, "").c_str());
  bool const right = all_are(2, result.values());
  std::printf("values[0] = %.1f: %s\n", result.values()[0], right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
