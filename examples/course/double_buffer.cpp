// SPDX-License-Identifier: Apache-2.0
// A host that fills two buffers alternately: it fills one while the device has the other. Before it fills a buffer
// again it waits for the last step that used it. The first argument names the device, the second the number of buffers.
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "floats.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

constexpr std::size_t steps = 8, size = std::size_t{1} << 18;

/// Memory for one step, its stream, and the event behind the step.
struct Buffer {
  explicit Buffer(Device& device)
      : input(device, size),
        output(device, size),
        values(device, size),
        done(device.make_event()),
        stream(device.make_stream()) {}
  PinnedFloats const input, output;
  DeviceFloats const values;
  Event const done;
  Stream const stream;
};

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  std::size_t const buffer_count = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 2;
  if (buffer_count == 0) return std::fprintf(stderr, "Name a number of buffers.\n"), 1;
  std::deque<Buffer> buffers;
  while (buffers.size() < buffer_count) buffers.emplace_back(*device);

  bool right = true;
  for (std::size_t step = 0; step < steps + buffer_count; ++step) {
    Buffer const& buffer = buffers[step % buffer_count];
    buffer.done.wait();  // The device may still have work on the other buffers. At first this returns at once.
    if (step >= buffer_count) {
      right = right && all_are(static_cast<float>(2 * (step - buffer_count)), buffer.output.values());
    }
    if (step >= steps) continue;  // The last rounds only take results.
    std::ranges::fill(buffer.input.values(), static_cast<float>(step));
    upload(buffer.values.values(), buffer.input.values(), buffer.stream);
    sum(buffer.values.values(), buffer.values.values(), buffer.values.values(), buffer.stream);
    download(buffer.output.values(), buffer.values.values(), buffer.stream);
    buffer.stream.record(buffer.done);
  }
  std::printf("%zu steps by %zu buffers: %s\n", steps, buffer_count, right ? "all right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
