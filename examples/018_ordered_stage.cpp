// SPDX-License-Identifier: Apache-2.0
// A filter that carries a value from tile to tile: each of four channels goes to one lane, in its sequence.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

constexpr std::size_t channels = 4;

float smooth(float last, float next) {
  return last + 0.125F * (next - last);
}
float sample(std::uint64_t channel, std::uint64_t at) {
  return static_cast<float>((at * 37 + channel * 11) % 101);
}

class Smooth final : public Stage {
 public:
  explicit Smooth(StageContext const& /*where*/) {}

  // It is one block, as each value depends on the one before. A lane may have several channels, so it has a value for
  // each.
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    stream.launch(1, [this, tile = DeviceTileOf<float>(tile)](KernelBlock block) {
      auto const input = tile.input.in(block);
      auto const output = tile.output.in(block);
      float& last = lasts_[tile.tag];
      for (std::size_t i = 0; i < input.size(); ++i) output[i] = last = smooth(last, input[i]);
    });
    return tile.output.size();
  }

 private:
  std::array<float, channels> lasts_{};
};

int main() try {
  constexpr std::uint64_t tiles = 400, per_tile = 1024;
  auto const device = open_device("cpu");
  Pipeline pipeline(*device, {.tile = tile_of<float>(per_tile), .lanes = 2});

  // The source decides in `next` which channel a tile belongs to; producers fill several tiles at once.
  struct Channels final : Source {
    bool next(Tile& tile) override {
      tile.tag = tile.sequence % channels;
      return tile.sequence < tiles;
    }
    std::size_t fill(Tile& tile) override {
      std::uint64_t const first = tile.sequence / channels * per_tile;
      auto const input = elements<float>(tile.input());
      for (std::size_t i = 0; i < input.size(); ++i) input[i] = sample(tile.tag, first + i);
      return tile.input().size();
    }
  } source;
  std::array<float, channels> ends{};
  auto const sink = [&](TileResult<float> result) {
    if (result.ok() && result.sequence() + channels >= tiles) ends.at(result.tag()) = result.output().back();
  };
  Report const report = pipeline.run(source, in_order_by(&Tile::tag, stage_per_lane<Smooth>()), sink);

  double largest = 0;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    float last = 0;
    for (std::uint64_t i = 0; i < tiles / channels * per_tile; ++i) last = smooth(last, sample(channel, i));
    largest = std::max(largest, static_cast<double>(std::fabs(last - ends.at(channel))));
  }
  std::printf("%s\nlargest difference from one channel after the other: %g\n", describe(report).c_str(), largest);
  return report.ok() && largest == 0 ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
