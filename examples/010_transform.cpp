// SPDX-License-Identifier: Apache-2.0
// A whole program: 64 Mi floats through a GPU, or through the CPU where there is none.
#include <algorithm>
#include <cstdio>
#include <span>

#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  constexpr std::size_t tiles = 64, per_tile = 1 << 20, bytes = per_tile * sizeof(float);
  auto const device = open_device();
  Pipeline pipeline(*device, {.tile = {.input_bytes = bytes, .output_bytes = bytes}});

  // Producers call this, several at once, each for a tile of its own: fill it and say how much.
  auto const fill = [](std::uint64_t, std::span<float> input) {
    std::ranges::fill(input, 1.0F);
    return input.size();
  };
  // Lanes call this: enqueue work on the device. Each lane has a stream of its own.
  auto const stage = each_tile([](DeviceTile const& tile, StreamRef stream) {
    transform(tile.input.as<float>(), tile.sequence * per_tile, tile.output.as<float>(), stream);
  });
  // The consumer calls this, once for each tile, whatever happened to it. The tile goes home afterwards.
  double worst = 0;
  auto const sink = [&](Completion& done) {
    if (!done.ok()) return;  // The report counts it.
    Tile const& tile = *done.loan;
    worst = std::max(worst, transform_error(elements<float>(tile.input()), tile.sequence * per_tile,
                                            elements<float>(tile.output())));
  };

  Report const report = pipeline.run(generate<float>(tiles, fill), stage, sink);
  std::printf("%s\nlargest error %.1e\n", describe(report).c_str(), worst);
  return report.ok() && worst < 1e-5 ? 0 : 1;
}
