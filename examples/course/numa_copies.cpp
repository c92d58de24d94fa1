// SPDX-License-Identifier: Apache-2.0
// Copies of pinned memory on each NUMA node of this machine, or of a modelled one. Memory of the node that a GPU is
// attached to is copied fastest; the first argument names the device.
#include <cstdio>
#include <filesystem>
#include <string>

#include "floats.hpp"
#include "late_clock.hpp"
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

bool is_there(unsigned node) {
  return std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(node));
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  unsigned const modelled = device->info().host_nodes;
  constexpr std::size_t size = std::size_t{1} << 22;
  constexpr int copies = 8;
  DeviceFloats const there(*device, size);
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  if (modelled == 0 && !is_there(0)) std::printf("node 0: this system does not show its nodes\n");
  for (unsigned node = 0; node < (modelled > 0 ? modelled : 64); ++node) {
    if (modelled == 0 && !is_there(node)) continue;
    if (modelled == 0 && !prefer(node)) {
      std::printf("node %u: this system does not let it be chosen\n", node);
      continue;
    }
    PinnedFloats const here(*device, size);  // It fills its pages, which puts them on the node, before it pins them.
    if (modelled > 0) device->place(std::as_bytes(here.values()), static_cast<int>(node));
    Stream const stream = device->make_stream();
    upload(there.values(), here.values(), stream);
    warm_up(*device, [&] { stream.synchronize(); });
    stream.record(start);
    for (int i = 0; i < copies; ++i) upload(there.values(), here.values(), stream);
    stream.record(end);
    end.wait();
    std::printf("node %u: %.1f GB/s%s\n", node, copies * size * sizeof(float) / milliseconds(start, end) / 1e6,
                judged(*device, "").c_str());
  }
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
