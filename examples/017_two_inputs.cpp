// SPDX-License-Identifier: Apache-2.0
// C = A + B, where A and B arrive separately: a tile has an input for each, each is uploaded in a stream of its own,
// and the kernel starts once both are on the device. At the end the timeline of the first tiles: when each was where.
#include <algorithm>
#include <cstdio>
#include <string>

#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/observe.hpp>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

/// Draws one line for each row of a lane: `=` while the device worked for one of these tiles, from the first to the
/// last.
void draw(Recording const& recording, std::uint64_t tiles) {
  auto const of_the_device = [&](Passage const& passage) {
    return passage.tile < tiles && recording.rows[passage.row].kind == RecordRow::Kind::stream;
  };
  std::int64_t begin = INT64_MAX, end = 0;
  for (Passage const& passage : recording.passages) {
    if (!of_the_device(passage)) continue;
    begin = std::min(begin, passage.begin), end = std::max(end, passage.end);
  }
  constexpr std::size_t columns = 80;
  auto const column = [&](std::int64_t time) {
    return std::min<std::size_t>(columns - 1, columns * (time - begin) / std::max<std::int64_t>(1, end - begin));
  };
  for (std::uint32_t row = 0; row < recording.rows.size(); ++row) {
    std::string line(columns, '.');
    for (Passage const& passage : recording.passages) {
      if (passage.row != row || !of_the_device(passage)) continue;
      for (std::size_t at = column(passage.begin); at <= column(passage.end); ++at) line[at] = '=';
    }
    if (line.find('=') != std::string::npos) std::printf("%-16s %s\n", recording.rows[row].name.c_str(), line.c_str());
  }
}

}  // namespace

int main() try {
  constexpr std::size_t tiles = 24, per_tile = 1 << 20;
  Devices const devices = open_devices();
  Recorder recorder;
  Pipeline pipeline(
      devices,
      {.tile = tile_of<Inputs<float, float>, float>(per_tile), .lanes = 1, .watching = {.recorder = &recorder}});

  auto const fill = [](TilePlace tile, std::span<float> a, std::span<float> b) {
    std::ranges::fill(a, static_cast<float>(tile.index));
    std::ranges::fill(b, 1.0F);
    return a.size();
  };
  auto const stage = on_device([](DeviceTileOf<Inputs<float, float>, float> tile, StreamRef stream) {
    auto const [a, b] = tile.inputs;
    sum(a, b, tile.output, stream);
  });
  bool right = true;
  auto const sink = [&](TileResult<float> c) {
    right = right && c.ok() && std::ranges::count(c.output(), static_cast<float>(c.sequence() + 1)) == per_tile;
  };
  Report const report = pipeline.run(generate(tiles, fill), stage, sink);

  std::printf("%s\n", describe(report).c_str());
  draw(recorder.take(), 4);
  return report.ok() && right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
