// SPDX-License-Identifier: Apache-2.0
// Copies of pinned memory on each NUMA node of this machine. Memory of the node that a GPU is attached to is copied
// fastest; the first argument names the device.
#include <cstdio>
#include <filesystem>
#include <string>

#include "floats.hpp"
#include <linux/mempolicy.h>
#include <penstock/models/devices.hpp>
#include <sys/syscall.h>

using namespace penstock;
using namespace course;

namespace {

/// Pages that this thread touches first are on this node from now on, if it has room.
bool prefer(unsigned node) {
  unsigned long const mask = 1UL << node;
  return syscall(SYS_set_mempolicy, MPOL_PREFERRED, &mask, sizeof(mask) * 8 + 1) == 0;
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  constexpr std::size_t size = std::size_t{1} << 22;
  constexpr int copies = 8;
  DeviceFloats const there(*device, size);
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  if (!std::filesystem::exists("/sys/devices/system/node/node0"))
    std::printf("node 0: this system does not show its nodes\n");
  for (unsigned node = 0; node < 64; ++node) {
    if (!std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(node))) continue;
    if (!prefer(node)) {
      std::printf("node %u: this system does not let it be chosen\n", node);
      continue;
    }
    PinnedFloats const here(*device, size);  // It fills its pages, which puts them on the node, before it pins them.
    Stream const stream = device->make_stream();
    upload(there.values(), here.values(), stream);  // The first copy is not counted.
    stream.record(start);
    for (int i = 0; i < copies; ++i) upload(there.values(), here.values(), stream);
    stream.record(end);
    end.wait();
    std::printf("node %u: %.1f GB/s\n", node, copies * size * sizeof(float) / milliseconds(start, end) / 1e6);
  }
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
