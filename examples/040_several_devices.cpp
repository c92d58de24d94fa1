// SPDX-License-Identifier: Apache-2.0
// One pipeline on several devices: each lane counts bytes in an array of its own, on its device, and in the end the
// arrays become one, from GPU to GPU by NCCL where there is any. Name the devices, as in cuda:0,cuda:1;
// unnamed they are all GPUs, or two CPU devices where there are not two.
#include <algorithm>
#include <cstdio>
#include <string>

#include <penstock/collective.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

int main(int count, char** arguments) try {
  constexpr std::uint64_t tiles = 512, tile_bytes = std::uint64_t{1} << 20;
  Devices const devices = open_devices(count > 1 ? arguments[1] : list_gpus().size() > 1 ? "all" : "cpu,cpu");
  Pipeline pipeline(devices, {.tile = tile_of<std::byte, void>(tile_bytes)});

  auto const fill = [](TilePlace tile, std::span<std::byte> input) {
    std::ranges::fill(input, static_cast<std::byte>(tile.index));
    return input.size();
  };
  // It lives from before the run until after the merge.
  Reduction<std::uint64_t> counts(devices, 256);
  auto const stage = counts.on_device([](DeviceTile const& tile, DeviceSpan<std::uint64_t> of_this_lane,
                                         StreamRef stream) { count_bytes(tile.input, of_this_lane, stream); },
                                      count_bytes_prepare);

  Report report = pipeline.run(generate(tiles, fill), stage, [](TileResult<>) {});
  auto const total = counts.merge();
  report.remarks.push_back("The counts were merged " + total.how + ".");
  bool const even = total.missing.empty() && std::ranges::all_of(total.values, [](std::uint64_t one) {
                      return one == tiles / 256 * tile_bytes;
                    });
  std::printf("%s\n", describe(report).c_str());
  for (DeviceSummary const& device : report.devices) {
    std::printf("%s: %llu tiles\n", device.name.c_str(), static_cast<unsigned long long>(device.tiles));
  }
  std::printf("%s\nevery byte was counted %s\n", report.remarks.back().c_str(), even ? "equally often" : "wrongly");
  return report.ok() && even ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
