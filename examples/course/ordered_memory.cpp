// SPDX-License-Identifier: Apache-2.0
// Memory for each step of a loop, allocated and freed in the order of the stream: the next step may get the same bytes,
// and the host waits for nothing. The first argument names the device.
#include <cstdio>
#include <set>

#include "floats.hpp"
#include "held_stream.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t steps = 4, size = std::size_t{1} << 20;
  PinnedFloats const host(*device, steps * size, 1);
  std::set<void const*> places;
  HeldStream held(*device);
  StreamRef const stream = held;

  // To load a kernel a GPU may wait for all streams, also for one that is held: so this comes before.
  sum_prepare(stream);
  held.hold();
  for (std::size_t step = 0; step < steps; ++step) {
    DeviceMemory const memory = stream.allocate(size * sizeof(float));
    auto const values = DeviceSpan<std::byte>(memory.bytes()).as<float>();
    places.insert(values.address());
    upload(values, host.part(step, size), stream);
    sum(values, values, values, stream);
    download(host.part(step, size), values, stream);
  }  // Here the memory is freed, as a step of the stream: behind the download.
  bool const none_done = all_are(1, host.values());
  held.let_go();
  stream.synchronize();

  bool const right = all_are(2, host.values());
  std::printf("the loop was over before the stream had begun: %s\n", none_done ? "yes" : "no");
  std::printf("%zu steps used %zu pieces of memory; the results are %s\n", steps, places.size(),
              right ? "right" : "wrong");
  return none_done && right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
