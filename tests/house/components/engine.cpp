// SPDX-License-Identifier: Apache-2.0
// Brings the bytes of ten tiles through the CPU device and back, by headers and libraries of the engine alone.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>

#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  auto const device = open_device("cpu", {});
  Pipeline pipeline(
      *device, {.tile = {.input_bytes = 4096, .output_bytes = 4096, .in_place = true}, .tuning = {.bind = Bind::none}});
  auto const fill = [](TilePlace tile, std::span<std::byte> input) {
    std::ranges::fill(input, static_cast<std::byte>(tile.index));
    return input.size();
  };
  int right = 0;
  auto const report =
      pipeline.run(generate(10, fill), on_device([](DeviceTile const&, StreamRef) {}), [&](TileResult<> tile) {
        auto const is_its_own = [&](std::byte byte) { return byte == static_cast<std::byte>(tile.sequence()); };
        right += tile.output().size() == 4096 && std::ranges::all_of(tile.output(), is_its_own) ? 1 : 0;
      });
  std::printf("%d of 10 tiles are right; 0 is %s\n", right, flavour_name(flavour()).data());
  return report.ok() && right == 10 ? 0 : 1;
}
