// SPDX-License-Identifier: Apache-2.0
// A whole program: 64 Mi floats through a GPU, or through the CPU where there is none.
#include <algorithm>
#include <cstdio>

#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  constexpr std::size_t tiles = 64, per_tile = 1 << 20;
  Devices const devices = open_devices();
  Pipeline pipeline(devices, {.tile = tile_of<float>(per_tile)});

  // Producers call this, several at once, each for a tile of its own: fill it and say how much.
  auto const fill = [](TilePlace, std::span<float> input) { return std::ranges::fill(input, 1.0F), input.size(); };
  // Lanes call this: enqueue work on the device. Each lane has a stream of its own.
  auto const stage = on_device([](DeviceTileOf<float> tile, StreamRef stream) {
    transform(tile.input, tile.sequence * per_tile, tile.output, stream);
  });
  // The consumer calls this, once for each tile, also for one that failed. The tile goes home afterwards.
  double worst = 0;
  auto const sink = [&](TileResult<float> tile) {
    if (tile.ok()) worst = std::max(worst, transform_error(tile.input(), tile.sequence() * per_tile, tile.output()));
  };

  Report const report = pipeline.run(generate(tiles, fill), stage, sink);
  std::printf("%s\nlargest error %.1e\n", describe(report).c_str(), worst);
  return report.ok() && worst < 1e-5 ? 0 : 1;
}
