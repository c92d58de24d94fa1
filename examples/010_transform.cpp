// SPDX-License-Identifier: Apache-2.0
// A whole program: 64 Mi floats through a GPU, or through the CPU where there is none.
#include <algorithm>
#include <cstdio>

#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  constexpr std::size_t total = 64 << 20, per_tile = 1 << 20, bytes = per_tile * sizeof(float);
  auto const floats = [](auto part) { return std::span(reinterpret_cast<float*>(part.data()), per_tile); };

  auto const device = open_device();
  Pipeline pipeline(*device, {.tile = {.input_bytes = bytes, .output_bytes = bytes}});

  // Producers call this, one at a time: put something into the tile and say how many bytes.
  auto const source = [&](Tile& tile) -> std::optional<std::size_t> {
    if (tile.sequence == total / per_tile) return std::nullopt;
    std::ranges::fill(floats(tile.input()), 1.0F);
    return bytes;
  };
  // Lanes call this: enqueue work on the device. Each lane has a stream of its own.
  auto const stage = each_tile([&](DeviceTile const& tile, StreamRef stream) {
    transform(tile.input.as<float>(), tile.sequence * per_tile, tile.output.as<float>(), stream);
  });
  // Consumers call this, once per tile, whatever happened to it. The tile goes home afterwards.
  double worst = 0;
  auto const sink = [&](Completion& done) {
    Tile& tile = *done.loan;
    worst = std::max(worst, transform_error(floats(tile.input()), tile.sequence * per_tile, floats(tile.output())));
  };

  Report const report = pipeline.run(source, stage, sink);
  std::printf("%s\nlargest error %.1e\n", describe(report).c_str(), worst);
  return report.ok() && worst < 1e-5 ? 0 : 1;
}
