// SPDX-License-Identifier: Apache-2.0
// A stage with a kernel of one's own: a histogram of bytes, kept on the device by each lane and merged at the end.
#include <array>
#include <atomic>
#include <cstdio>
#include <numeric>

#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

namespace {

constexpr unsigned bins = 256;
using Histogram = std::array<unsigned long long, bins>;

__global__ void count_bytes(unsigned char const* input, std::size_t bytes, unsigned long long* histogram) {
  __shared__ unsigned long long own[bins];
  for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) own[i] = 0;
  __syncthreads();
  std::size_t const stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes; i += stride)
    atomicAdd(&own[input[i]], 1ULL);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) atomicAdd(&histogram[i], own[i]);
}

class CountBytes final : public Stage {
 public:
  explicit CountBytes(StageContext const& context) : memory_(context.device.allocate(sizeof(Histogram))) {}

  // Before the first tile: clear the histogram, and launch the kernel once on nothing so that it is loaded.
  void prepare(StreamRef stream) override {
    stream.upload(memory_.bytes(), std::as_bytes(std::span(result)));
    run({}, stream);
  }

  // No stream is named in this launch. penstock::penstock has it compiled with --default-stream per-thread, which means
  // the stream of the calling thread: the lane's own. With penstock::legacy all lanes share one.
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    auto* const histogram = DeviceSpan<std::byte>(memory_.bytes()).as<unsigned long long>().address();
    auto const input = tile.input.as<unsigned char const>();
    if (stream.kind() == DeviceKind::cuda) {
      count_bytes<<<64, 256>>>(input.address(), input.size(), histogram);
      if (cudaError_t const error = cudaGetLastError(); error != cudaSuccess) {
        throw Error(ErrorKind::device_refused, cudaGetErrorString(error));
      }
    } else {
      stream.launch(1, [input, histogram](KernelBlock block) {
        for (unsigned char const byte : input.in(block)) ++histogram[byte];
      });
    }
    return 0;  // Nothing to bring back per tile.
  }

  void finish(StreamRef stream) override {
    stream.download(std::as_writable_bytes(std::span(result)), memory_.bytes());
  }

  Histogram result{};

 private:
  DeviceMemory memory_;
};

}  // namespace

int main() try {
  constexpr std::uint64_t tiles = 256, tile_bytes = std::uint64_t{1} << 20;
  Devices const devices = open_devices();
  Pipeline pipeline(devices, {.tile = tile_of<unsigned char, void>(tile_bytes)});

  auto const fill = [](TilePlace tile, std::span<unsigned char> input) {
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<unsigned char>(i * (tile.index + 1));
    return input.size();
  };
  Histogram total{};
  auto const stage = stage_per_lane<CountBytes>([&](CountBytes& lane) {
    for (unsigned i = 0; i < bins; ++i) total[i] += lane.result[i];
  });

  Report const report = pipeline.run(generate(tiles, fill), stage, [](TileResult<>) {});
  auto const counted = std::accumulate(total.begin(), total.end(), 0ULL);
  std::printf("%s\n%llu bytes counted on %s\n", describe(report).c_str(), counted, devices.info().name.c_str());
  return report.ok() && counted == tiles * tile_bytes ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
