// SPDX-License-Identifier: Apache-2.0
// One task, copy, kernel and copy, whole in one stream and cut into parts over several. Each way has 100 runs to warm
// up and 1,000 that count, by the host's clock and by two events in stream 0, the legacy one, which is serialised with
// all blocking streams. Arguments: the device, the number of streams, the number of floats.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "floats.hpp"
#include <penstock/clock.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

/// Does the task so often, in as many parts as there are streams. In each stream a run follows the one before.
void run(PinnedFloats const& input, PinnedFloats const& output, DeviceFloats const& from, DeviceFloats const& to,
         std::vector<Stream> const& streams, int times) {
  std::size_t const size = input.values().size() / streams.size();
  for (int done = 0; done < times; ++done) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      upload(from.part(i, size), input.part(i, size), streams[i]);
      transform(from.part(i, size), i * size, to.part(i, size), streams[i]);  // It adds sqrt(sin^2 + cos^2), so 1.
      download(output.part(i, size), to.part(i, size), streams[i]);
    }
  }
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  std::size_t const stream_count = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 4;
  bool const gpu = device->info().kind == DeviceKind::cuda;
  std::size_t const floats = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : std::size_t{1} << (gpu ? 25 : 14);
  if (stream_count == 0 || floats % stream_count != 0) return std::fprintf(stderr, "The parts are not equal.\n"), 1;
  PinnedFloats const input(*device, floats), output(*device, floats);
  DeviceFloats const from(*device, floats), to(*device, floats);
  StreamRef const zero = device->legacy_default_stream();
  Event const start = device->make_event({.timing = true}), end = device->make_event({.timing = true});
  double largest_error = 0;
  for (std::size_t const used : {std::size_t{1}, stream_count}) {
    constexpr int warm_up = 100, runs = 1000;
    std::vector<Stream> streams;
    while (streams.size() < used) streams.push_back(device->make_stream({.blocking = true}));
    std::ranges::fill(output.values(), 0.0F);  // So nothing is left of the other way.
    run(input, output, from, to, streams, warm_up);
    for (Stream const& stream : streams) stream.synchronize();
    auto const began = Clock::now();
    zero.record(start);
    run(input, output, from, to, streams, runs);
    zero.record(end);
    end.wait();
    std::chrono::duration<double, std::milli> const time = Clock::now() - began;
    std::printf("streams: %zu, %.5f ms a run (%d to warm up, %d counted), by events in stream 0 %.5f ms\n", used,
                time.count() / runs, warm_up, runs, milliseconds(start, end) / runs);
    largest_error = std::max(largest_error, transform_error(input.values(), 0, output.values()));
  }
  std::printf("largest error: %g\n", largest_error);
  return largest_error < 1e-6 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
