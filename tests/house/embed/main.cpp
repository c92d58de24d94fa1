// SPDX-License-Identifier: Apache-2.0
// Brings ten tiles through the CPU device, and this program as a file, which takes every layer to link and what those
// need.
#include <cstdio>
#include <filesystem>
#include <optional>

#include <penstock/files.hpp>  // As it was called before components had folders.
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/penstock.hpp>

bool reads_all_of(char const* path, penstock::Device& device) {
  penstock::Pipeline pipeline(device, {.tile = {.input_bytes = 65536}, .tuning = {.bind = penstock::Bind::none}});
  penstock::FileSource source({path}, pipeline.pool());
  std::uintmax_t bytes = 0;
  auto const report = pipeline.run(source, penstock::on_device([](penstock::DeviceTile const&, penstock::StreamRef) {}),
                                   [&](penstock::Completion const& completion) { bytes += completion.loan->filled; });
  return report.ok() && bytes == std::filesystem::file_size(path);
}

int main(int, char** words) {
  auto const device = penstock::open_device("cpu");
  penstock::Pipeline pipeline(
      *device, {.tile = {.input_bytes = 4096, .output_bytes = 4096}, .tuning = {.bind = penstock::Bind::none}});
  int left = 10, right = 0;
  auto const report =
      pipeline.run(penstock::serial([&](penstock::Tile& tile) {
                     return left-- > 0 ? std::optional(tile.input().size()) : std::nullopt;
                   }),
                   penstock::on_device([](penstock::DeviceTileOf<float> tile, penstock::StreamRef stream) {
                     penstock::transform(tile.input, 0, tile.output, stream);
                   }),
                   [&](penstock::TileResult<float> tile) {
                     right += penstock::transform_error(tile.input(), 0, tile.output()) < 1e-6 ? 1 : 0;
                   });
  std::printf("%d of 10 tiles are right after a journey through the %s, whose 0 is %s\n", right,
              device->info().name.c_str(), penstock::flavour_name(device->flavour()).data());
  if (!reads_all_of(words[0], *device)) {
    std::printf("%s is not read as a file of its size\n", words[0]);
    return 1;
  }
  return report.ok() && right == 10 && device->flavour() == penstock::flavour() ? 0 : 1;
}
