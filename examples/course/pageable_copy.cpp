// SPDX-License-Identifier: Apache-2.0
// A copy behind a kernel, to pinned and to pageable memory of the host: does the call return before its copy's turn has
// come? The first argument names the device. The CPU device can read any memory, so there both calls return at once.
#include <cstdio>
#include <vector>

#include "floats.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

void copy_behind_kernel(Device& device, DeviceFloats const& values, char const* name, std::span<float> host) {
  Event const turn = device.make_event();
  Stream const stream = device.make_stream();
  transform(values.values(), 0, values.values(), stream);
  stream.record(turn);
  download(host, values.values(), stream);
  bool const returned_first = !turn.passed();
  stream.synchronize();
  std::printf("%s memory: the call returned %s\n", name, returned_first ? "at once" : "when the kernel was over");
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t size = std::size_t{1} << 22;
  PinnedFloats const pinned(*device, size);
  std::vector<float> pageable(size);
  DeviceFloats const values(*device, size);
  {
    Stream const stream = device->make_stream();
    transform_prepare(stream);
    upload(values.values(), pinned.values(), stream);
  }
  copy_behind_kernel(*device, values, "pinned", pinned.values());
  copy_behind_kernel(*device, values, "pageable", pageable);
  bool const right = transform_error(pinned.values(), 0, pageable) < 1e-5;  // Each kernel adds one.
  std::printf("the copies are %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
