// SPDX-License-Identifier: Apache-2.0
// cuBLAS in a lane's stream: each tile is a matrix, which the stage multiplies with one that stays on the GPU.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <cublas_v2.h>
#include <penstock/models/devices.hpp>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

constexpr std::size_t rows = 512, size = rows * rows;

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(ErrorKind::device_refused, cublasGetStatusString(status));
}

/// Each lane has a handle of its own: a handle belongs to one stream at a time.
struct Product final : Stage {
  explicit Product(StageContext const& context) : twos(context, size) {
    std::vector<float> diagonal(size);
    for (std::size_t i = 0; i < rows; ++i) diagonal[i * rows + i] = 2;
    context.stream.upload(twos.span().as<std::byte>(), std::as_bytes(std::span(diagonal)));
    context.stream.synchronize();
    check(cublasCreate(&handle));
    check(cublasSetStream(handle, cuda_stream(context.stream)));  // Without it, the calls would be in stream 0.
  }
  ~Product() override { cublasDestroy(handle); }
  std::size_t run(DeviceTile const& tile, StreamRef) override {
    constexpr int n = rows;
    float const one = 1, zero = 0;
    check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, twos.span().address(), n,
                      tile.input.as<float>().address(), n, &zero, tile.output.as<float>().address(), n));
    return tile.output.size();
  }

  DeviceArray<float> twos;
  cublasHandle_t handle = nullptr;
};

}  // namespace

int main() try {
  if (list_gpus().empty()) return 77;  // Its test is skipped.
  auto const device = open_device("cuda");
  Pipeline pipeline(*device, {.tile = tile_of<float>(size)});
  auto const fill = [](TilePlace, std::span<float> input) { return std::ranges::fill(input, 3.0F), input.size(); };
  bool right = true;
  auto const sink = [&](TileResult<float> tile) {
    right = right && tile.ok() && std::ranges::all_of(tile.output(), [](float value) { return value == 6; });
  };
  Report const report = pipeline.run(generate(64, fill), stage_per_lane<Product>(), sink);
  std::printf("%s\nthe products are %s\n", describe(report).c_str(), right ? "right" : "wrong");
  return report.ok() && right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
