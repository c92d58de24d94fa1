// SPDX-License-Identifier: Apache-2.0
// A kernel that writes where it must not for one of the tiles in flight: attribution names that tile and no other. A
// program of its own, since attribution starts it again. Exit code 77 without a GPU.
#include <cstdio>

#include <penstock/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

namespace {

constexpr std::uint64_t culprit = 13;

__global__ void work(float const* from, std::size_t count, float* to) {
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i] + 1;
}

std::size_t run(DeviceTileOf<float, float> tile, StreamRef stream) {
  float* const to = tile.sequence == culprit ? nullptr : tile.output.address();
  work<<<1, 256, 0, cuda_stream(stream)>>>(tile.input.address(), tile.input.size(), to);
  return tile.output.size_bytes();
}

}  // namespace

int main() try {
  if (list_gpus().empty()) return std::printf("%s\n", gpu_sentence().c_str()), 77;
  auto const device = open_device("cuda");
  PipelineOptions options{.tile = tile_of<float, float>(1 << 18)};
  options.watching.attribute = true;
  Pipeline pipeline(*device, options);
  auto const fill = [](TilePlace tile, std::span<float> input) {
    for (float& value : input) value = static_cast<float>(tile.index);
    return input.size();
  };
  Report const report = pipeline.run(generate(64, fill), on_device(run), [](TileResult<float> const&) {});
  if (report.attribution == nullptr) return std::printf("nothing was attributed\n%s\n", describe(report).c_str()), 1;
  std::printf("%s\n", describe(*report.attribution).c_str());
  auto const& culprits = report.attribution->culprits;
  bool const found = culprits.size() == 1 && culprits.front().sequence == culprit;
  bool const one_was_innocent = !report.attribution->innocent.empty();
  return found && one_was_innocent && report.attribution->not_tried.empty() ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
