// SPDX-License-Identifier: Apache-2.0
// Four kernels that fill the device, in streams of low priority, and one behind them in a stream of high priority. It
// overtakes those that wait, and interrupts none that runs. The first argument names the device.
#include <cstdio>
#include <vector>

#include "floats.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t streams = 4;
  auto const info = device->info();
  // A GPU is so fast that shorter kernels would end before the last one is launched.
  std::size_t const size = std::size_t{1} << (info.kind == DeviceKind::cuda ? 24 : 22);
  DeviceFloats const values(*device, (streams + 1) * size);
  std::vector<Event> done;
  while (done.size() < streams + 1) done.push_back(device->make_event({.timing = true}));
  // A lower number is a higher priority.
  std::vector<Stream> low;
  while (low.size() < streams) low.push_back(device->make_stream({.priority = info.least_priority}));
  Stream const high = device->make_stream({.priority = info.greatest_priority});
  transform_prepare(high);

  for (std::size_t i = 0; i < streams; ++i) {
    transform(values.part(i, size), 0, values.part(i, size), low[i]);
    low[i].record(done[i]);
  }
  transform(values.part(streams, size), 0, values.part(streams, size), high);
  high.record(done[streams]);
  for (Event const& event : done) event.wait();

  int overtaken = 0;
  for (std::size_t i = 0; i < streams; ++i) overtaken += milliseconds(done[streams], done[i]) > 0 ? 1 : 0;
  std::printf("high, given last, was over before %d of the 4 given before it\n", overtaken);
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
