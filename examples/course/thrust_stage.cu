// SPDX-License-Identifier: Apache-2.0
// Thrust in a lane's stream: each tile has numbers, which the stage sorts in place.
#include <algorithm>
#include <cstdio>

#include <penstock/models/devices.hpp>
#include <penstock/penstock.hpp>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

using namespace penstock;

int main() try {
  if (list_gpus().empty()) return 77;  // Its test is skipped.
  auto const device = open_device("cuda");
  constexpr std::size_t size = std::size_t{1} << 20;
  TileShape shape = tile_of<unsigned>(size);
  shape.in_place = true;  // Output and input are the same memory.
  Pipeline pipeline(*device, {.tile = shape});

  auto const fill = [](TilePlace tile, std::span<unsigned> input) {
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<unsigned>((i + tile.index) * 2'654'435'761U);
    return input.size();
  };
  auto const stage = on_device([](DeviceTileOf<unsigned> tile, StreamRef stream) {
    // `par` in its place would wait for the stream before it returns. Thrust may allocate memory in each call;
    // `par_nosync(allocator)` gives it some.
    auto const policy = thrust::cuda::par_nosync.on(cuda_stream(stream));
    thrust::sort(policy, tile.output.address(), tile.output.address() + tile.output.size());
  });
  bool right = true;
  auto const sink = [&](TileResult<unsigned> tile) {
    right = right && tile.ok() && std::ranges::is_sorted(tile.output());
  };

  Report const report = pipeline.run(generate(64, fill), stage, sink);
  std::printf("%s\nthe order is %s\n", describe(report).c_str(), right ? "right" : "wrong");
  return report.ok() && right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
