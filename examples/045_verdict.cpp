// SPDX-License-Identifier: Apache-2.0
// A verdict says what keeps a run from being faster, and what to do about it: here it is a slow source.
#include <cstdio>
#include <cstring>

#include <penstock/models/devices.hpp>
#include <penstock/observe.hpp>
#include <penstock/penstock.hpp>

using namespace penstock;

int main() {
  Devices const devices = open_devices();
  Pipeline pipeline(devices,
                    {.tile = tile_of<std::byte, void>(1 << 20), .producers = 1, .watching = {.hooks = {verdicts()}}});

  // Fills each tile several times, to simulate work.
  auto const fill = [](TilePlace, std::span<std::byte> input) {
    for (int round = 0; round < 250; ++round) std::memset(input.data(), round, input.size());
    return input.size();
  };
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});  // Yours, on the tile that is on the device.
  Report const report = pipeline.run(generate(50, fill), stage, [](TileResult<>) {});

  std::printf("%s\n", describe(report).c_str());
  return report.ok() && report.verdict != nullptr ? 0 : 1;
}
