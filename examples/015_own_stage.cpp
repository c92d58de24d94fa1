// SPDX-License-Identifier: Apache-2.0
// A stage of one's own with a CPU body: each lane counts bytes, and at the end the lanes' counts are merged.
#include <algorithm>
#include <array>
#include <cstdio>

#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

using Histogram = std::array<std::uint64_t, 256>;

class CountBytes final : public Stage {
 public:
  explicit CountBytes(StageContext const& /*where*/) {}

  // The CPU device calls the body once for each block, on several threads at once, when this tile is uploaded and the
  // lane's tile before it is through. So what belongs to one lane and one block needs no lock. What the body throws
  // fails the tile. The block is a number, and the key to the tile's bytes: outside of a kernel nothing reads them.
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    stream.launch(blocks, [this, input = tile.input](KernelBlock block) {
      std::size_t const begin = input.size() * block / blocks, end = input.size() * (block + 1) / blocks;
      for (std::byte const byte : input.in(block).subspan(begin, end - begin))
        ++counts[block][std::to_integer<unsigned>(byte)];
    });
    return 0;  // Nothing to bring back per tile.
  }

  static constexpr std::uint32_t blocks = 8;
  std::array<Histogram, blocks> counts{};
};

int main() try {
  constexpr std::uint64_t tiles = 256, tile_bytes = std::uint64_t{1} << 20;
  auto const device = open_device("cpu");  // A GPU refuses a CPU body: 030_own_kernel.cu has both.
  Pipeline pipeline(*device, {.tile = tile_of<std::byte, void>(tile_bytes), .lanes = 2});

  auto const fill = [](TilePlace tile, std::span<std::byte> input) {
    std::ranges::fill(input, static_cast<std::byte>(tile.index));
    return input.size();
  };
  // The stage of each lane is passed once, one after the other, when its last tile is done.
  Histogram total{};
  auto const stage = stage_per_lane<CountBytes>([&](CountBytes& lane) {
    for (Histogram const& counts : lane.counts) {
      for (std::size_t value = 0; value < counts.size(); ++value) total[value] += counts[value];
    }
  });

  std::printf("%s\n", describe(pipeline.graph()).c_str());
  Report const report = pipeline.run(generate(tiles, fill), stage, [](TileResult<>) {});
  bool const even = std::ranges::all_of(total, [](std::uint64_t count) { return count == tile_bytes; });
  std::printf("%s\nevery byte was counted %s\n", describe(report).c_str(), even ? "equally often" : "wrongly");
  return report.ok() && even ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
