// SPDX-License-Identifier: Apache-2.0
// A + B in four parts by one stream, and by two: one copies the inputs, the other adds and copies the results. An event
// behind each part's inputs lets its kernel begin, while the next part is copied. Events take the time of both ways.
// The first argument names the device.
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
  constexpr std::size_t parts = 4, size = std::size_t{1} << 20;
  PinnedFloats const host_a(*device, parts * size, 1), host_b(*device, parts * size, 2), host_c(*device, parts * size);
  DeviceFloats const a(*device, parts * size), b(*device, parts * size), c(*device, parts * size);
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  Event const first_over = device->make_event({.timing = true}), last_there = device->make_event({.timing = true});
  std::vector<Event> there;
  while (there.size() < parts) there.push_back(device->make_event());
  Stream const first = device->make_stream(), second = device->make_stream();
  sum_prepare(second);

  auto const add = [&](StreamRef copies, StreamRef kernels) {
    copies.record(start);
    for (std::size_t i = 0; i < parts; ++i) {
      upload(a.part(i, size), host_a.part(i, size), copies);
      upload(b.part(i, size), host_b.part(i, size), copies);
      copies.record(there[i]);
      kernels.wait(there[i]);
      sum(a.part(i, size), b.part(i, size), c.part(i, size), kernels);
      if (i == 0) kernels.record(first_over);
      download(host_c.part(i, size), c.part(i, size), kernels);
    }
    copies.record(last_there);
    kernels.record(end);
    end.wait();  // The other stream is through as well: the kernels waited for it.
    return milliseconds(start, end);
  };
  warm_up(*device, [&] { add(first, second); });
  double const by_one = add(first, first), by_two = add(first, second);
  std::printf("one stream: %.3f ms, two streams: %.3f ms, %.2f times as fast, by events%s\n", by_one, by_two,
              by_one / by_two, judged(*device, "").c_str());

  bool const right = all_are(3, host_c.values());
  std::printf("c[0] = %.1f: %s\n", host_c.values()[0], right ? "right" : "wrong");
  bool const overlap = milliseconds(first_over, last_there) > 0;
  std::printf("the first kernel was over %s the last input was there: %s\n", overlap ? "before" : "after",
              overlap ? "overlap" : "no overlap");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
