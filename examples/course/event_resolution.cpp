// SPDX-License-Identifier: Apache-2.0
// The smallest time that events show: a thousand pairs with nothing between the two. What takes about as long as that
// is measured by many repetitions between one pair. The first argument names the device.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "floats.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  Stream const stream = device->make_stream();
  std::vector<double> microseconds;
  while (microseconds.size() < 1000) {
    stream.record(start);
    stream.record(end);
    end.wait();
    microseconds.push_back(1000 * milliseconds(start, end));
  }
  std::ranges::sort(microseconds);
  auto const shown = std::ranges::find_if(microseconds, [](double time) { return time > 0; });
  std::printf("nothing took %.3f us at least, %.3f us in the median", microseconds.front(), microseconds[500]);
  if (shown != microseconds.end()) std::printf(", and where that is not 0, %.3f us at least", *shown);
  std::printf("\n");
  return microseconds.front() >= 0 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
