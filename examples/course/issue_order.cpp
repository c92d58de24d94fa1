// SPDX-License-Identifier: Apache-2.0
// The same calls depth first, all of one stream and then all of the next, and breadth first, all uploads, then all
// kernels, then all downloads. The first argument names the device; model:c1060 has one copy engine, model:h200 two.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "floats.hpp"
#include "late_clock.hpp"
#include <penstock/clock.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

constexpr std::size_t parts = 4, size = std::size_t{1} << 18;
/// Does copy, kernel and copy for each part in a stream of its own, and returns the milliseconds until all are through.
double run(Device& device, PinnedFloats const& host, DeviceFloats const& values, bool depth_first) {
  std::vector<Stream> streams;
  while (streams.size() < parts) streams.push_back(device.make_stream());
  auto const up = [&](std::size_t i) { upload(values.part(i, size), host.part(i, size), streams[i]); };
  auto const kernel = [&](std::size_t i) { transform(values.part(i, size), 0, values.part(i, size), streams[i]); };
  auto const down = [&](std::size_t i) { download(host.part(i, size), values.part(i, size), streams[i]); };
  auto const began = Clock::now();
  if (depth_first) {
    for (std::size_t i = 0; i < parts; ++i) {
      up(i);
      kernel(i);
      down(i);
    }
  } else {
    for (std::size_t i = 0; i < parts; ++i) up(i);
    for (std::size_t i = 0; i < parts; ++i) kernel(i);
    for (std::size_t i = 0; i < parts; ++i) down(i);
  }
  for (Stream const& stream : streams) stream.synchronize();
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  PinnedFloats const host(*device, parts * size);
  DeviceFloats const values(*device, parts * size);
  warm_up(*device, [&] { run(*device, host, values, true); });
  double depth = 1e9, breadth = 1e9;  // The best of five each.
  for (int i = 0; i < 5; ++i) depth = std::min(depth, run(*device, host, values, true));
  for (int i = 0; i < 5; ++i) breadth = std::min(breadth, run(*device, host, values, false));
  char const* const faster = depth < 0.9 * breadth   ? "\ndepth first was faster"
                             : breadth < 0.9 * depth ? "\nbreadth first was faster"
                                                     : "\nneither was faster";
  std::printf("depth first: %.3f ms, breadth first: %.3f ms%s\n", depth, breadth, judged(*device, faster).c_str());
  return transform_error(std::vector<float>(size, 10), 0, host.part(parts - 1, size)) < 1e-5 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
