// SPDX-License-Identifier: Apache-2.0
// Spans of a program's own name, "decode" in its source and "check" in its sink, in a table and in a trace.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/observe.hpp>
#include <penstock/penstock.hpp>

using namespace penstock;

int main(int count, char** arguments) try {
  constexpr std::uint64_t tiles = 50;
  Devices const devices = open_devices(count > 1 ? arguments[1] : "auto");
  Recorder recorder;
  Watching const watching{.recorder = &recorder};
  Pipeline pipeline(devices, {.tile = tile_of<float>(1 << 16), .watching = watching});

  auto const fill = [&](TilePlace tile, std::span<float> input) {
    Span const decode(watching, "decode", tile.index);
    {
      Span const parse(watching, "parse", tile.index);  // Within "decode", which has the rest of the time for itself.
      std::ranges::fill(input, static_cast<float>(tile.index));
    }
    std::ranges::reverse(input);
    return input.size();
  };
  auto const stage = on_device([&](DeviceTileOf<float> tile, StreamRef stream) {
    Span const launch(watching, "launch", tile.sequence);  // The call; the kernel itself runs later.
    transform(tile.input, 0, tile.output, stream);
  });
  std::uint64_t right = 0;
  auto const check = [&](TileResult<float> done) {
    Span const span(watching, "check", done.sequence());
    if (done.ok() && transform_error(done.input(), 0, done.output()) < 1e-5) ++right;
  };
  Report const report = pipeline.run(generate(tiles, fill), stage, check);

  Recording const recording = recorder.take();
  std::printf("%s", span_table(recording, SpanOrder::kernel).c_str());
  if (count > 2) {
    std::ofstream trace(arguments[2]);
    write_trace(trace, recording);
  }
  return report.ok() && right == tiles && span_times(recording).size() == 4 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
