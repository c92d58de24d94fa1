// SPDX-License-Identifier: Apache-2.0
// The time of a kernel, by events: 5 runs to warm up and 50 that count. If the host waits for each run, the times have
// a mean and a deviation; if it waits once, there is one sum. The first argument names the device.
#include <cmath>
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
  constexpr std::size_t size = std::size_t{1} << 20;
  constexpr int uncounted = 5, runs = 50;
  PinnedFloats const ones(*device, size, 1), host(*device, size);
  DeviceFloats const a(*device, size), b(*device, size);
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  Stream const stream = device->make_stream();
  upload(a.values(), ones.values(), stream);
  warm_up(*device, [&] {
    for (int i = 0; i < uncounted; ++i) sum(a.values(), a.values(), b.values(), stream);
    stream.synchronize();
  });

  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    stream.record(start);
    sum(a.values(), a.values(), b.values(), stream);
    stream.record(end);
    end.wait();  // So the two events are those of this run.
    times.push_back(milliseconds(start, end));
  }
  double mean = 0, squares = 0;
  for (double const time : times) mean += time / runs;
  for (double const time : times) squares += (time - mean) * (time - mean);
  std::printf("a wait for each of %d runs behind %d: mean %.4f ms, deviation %.4f ms%s\n", runs, uncounted, mean,
              std::sqrt(squares / (runs - 1)), judged(*device, "").c_str());

  stream.record(start);
  for (int i = 0; i < runs; ++i) sum(a.values(), a.values(), b.values(), stream);
  stream.record(end);
  end.wait();
  double const all = milliseconds(start, end);
  std::printf("one wait for all of them: %.4f ms in all, %.4f ms a run, and no deviation%s\n", all, all / runs,
              judged(*device, "").c_str());

  download(host.values(), b.values(), stream);
  stream.synchronize();
  bool const right = all_are(2, host.values());
  std::printf("b[0] = %.1f: %s\n", host.values()[0], right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
