// SPDX-License-Identifier: Apache-2.0
// An array in four chunks over four streams, and in one: while a chunk is computed, the next is copied. The first
// argument names the device.
#include <cstdio>
#include <vector>

#include "floats.hpp"
#include "late_clock.hpp"
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

constexpr std::size_t chunks = 4, chunk = std::size_t{1} << 20;
/// Doubles the array in chunks by `count` streams, and returns the milliseconds that the device took.
double run(Device& device, PinnedFloats const& host, DeviceFloats const& values, std::size_t count) {
  Event const start = device.make_event({.timing = true}), end = device.make_event({.timing = true});
  std::vector<Event> done;
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < count; ++i) {
    done.push_back(device.make_event());
    streams.push_back(device.make_stream());
  }
  // An event is a place in one stream. The others begin behind `start`, and `end` is behind all of them.
  streams[0].record(start);
  for (Stream const& stream : streams) stream.wait(start);
  for (std::size_t i = 0; i < chunks; ++i) {
    StreamRef const stream = streams[i % count];
    upload(values.part(i, chunk), host.part(i, chunk), stream);
    sum(values.part(i, chunk), values.part(i, chunk), values.part(i, chunk), stream);
    download(host.part(i, chunk), values.part(i, chunk), stream);
  }
  for (std::size_t i = 0; i < count; ++i) {
    streams[i].record(done[i]);
    streams[0].wait(done[i]);
  }
  streams[0].record(end);
  end.wait();
  return milliseconds(start, end);
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "auto");
  PinnedFloats const host(*device, chunks * chunk, 3);
  DeviceFloats const values(*device, chunks * chunk);
  warm_up(*device, [&] { run(*device, host, values, 1); });
  double const sequential = run(*device, host, values, 1), pipelined = run(*device, host, values, chunks);
  bool const right = all_are(3 * 2 * 2 * 2, host.values());
  std::printf("one stream: %.3f ms\nfour streams: %.3f ms%s\n", sequential, pipelined,
              judged(*device, pipelined < sequential ? ", faster" : "").c_str());
  std::printf("values[0] = %.1f: %s\n", host.values()[0], right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
