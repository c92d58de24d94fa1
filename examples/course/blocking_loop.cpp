// SPDX-License-Identifier: Apache-2.0
// The same work in four streams, with a wait behind the loop and with one inside, where the host gives the device
// nothing more to do. The first argument names the device.
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

constexpr std::size_t parts = 4, size = std::size_t{1} << 19;
/// As PinnedFloats, but the memory is not pinned.
struct PageableFloats {
  std::vector<float> values = std::vector<float>(parts * size, 1);
  std::span<float> part(std::size_t number, std::size_t n) { return std::span(values).subspan(number * n, n); }
};

/// Doubles the parts, and returns the milliseconds that the host needs for it.
template <class HostFloats>
double run(Device& device, HostFloats& host, DeviceFloats const& values, bool wait_inside) {
  std::vector<Stream> streams;
  while (streams.size() < parts) streams.push_back(device.make_stream());
  auto const began = Clock::now();
  for (std::size_t i = 0; i < parts; ++i) {
    upload(values.part(i, size), host.part(i, size), streams[i]);
    sum(values.part(i, size), values.part(i, size), values.part(i, size), streams[i]);
    download(host.part(i, size), values.part(i, size), streams[i]);
    if (wait_inside) streams[i].synchronize();
  }
  for (Stream const& stream : streams) stream.synchronize();
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  PinnedFloats const host(*device, parts * size, 1);
  DeviceFloats const values(*device, parts * size);
  warm_up(*device, [&] { run(*device, host, values, false); });
  double const inside = run(*device, host, values, true), behind = run(*device, host, values, false);
  std::printf("wait inside the loop: %.3f ms\nwait behind the loop: %.3f ms%s\n", inside, behind,
              judged(*device, behind < inside ? ", faster" : "").c_str());
  PageableFloats pageable;  // Each copy keeps its caller.
  double const kept = run(*device, pageable, values, false);
  std::printf("pageable memory, wait behind the loop: %.3f ms%s\n", kept,
              judged(*device, kept > behind ? ", slower" : "").c_str());
  bool const right = all_are(8, host.values()) && all_are(2, pageable.values);
  std::printf("values[0] = %.1f: %s\n", host.values()[0], right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
