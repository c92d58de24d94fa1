// SPDX-License-Identifier: Apache-2.0
// Arrays on several devices become their sums while the devices compute on: by NCCL where there is any. Name the
// devices, as in cuda:0,cuda:1; unnamed they are all GPUs, or two CPU devices where there are not two.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <penstock/collective.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;

/// A device, its stream and its memory. The second half of the array is computed after the first.
struct Rank {
  explicit Rank(Device& its) : device(its), stream(its.make_stream()), memory(its.allocate(count * sizeof(float))) {}
  DeviceSpan<float> half(std::size_t which) const {
    return DeviceSpan<std::byte>(memory.bytes()).as<float>().subspan(which * count / 2, count / 2);
  }
  /// Turns zeros into ones.
  void compute(std::size_t which) {
    device.attach();
    transform(half(which), 0, half(which), stream);
  }
  static constexpr std::size_t count = std::size_t{1} << 20;
  Device& device;
  Stream stream;
  DeviceMemory memory;
};

int main(int count, char** arguments) try {
  Devices const devices = open_devices(count > 1 ? arguments[1] : list_gpus().size() > 1 ? "all" : "cpu,cpu");
  std::vector<float> values(Rank::count);
  std::vector<Rank> ranks;
  for (Device* const device : devices.all()) {
    device->attach();
    ranks.emplace_back(*device).stream.upload(ranks.back().memory.bytes(), std::as_bytes(std::span(values)));
  }

  AllReduce<float> reduce(devices, ReduceOperation::sum, {.blocks = 16});
  for (std::size_t half = 0; half < 2; ++half) {
    std::vector<AllReduce<float>::Part> parts;
    for (Rank& rank : ranks) {
      rank.compute(half);
      parts.push_back({rank.half(half), rank.stream});
    }
    reduce.start(parts);  // It follows what the streams have so far; their later work runs beside it.
  }
  reduce.wait();

  bool right = true;
  for (Rank& rank : ranks) {
    rank.device.attach();
    rank.stream.download(std::as_writable_bytes(std::span(values)), rank.memory.bytes());
    rank.stream.synchronize();
    right =
        right && std::ranges::all_of(values, [&](float value) {
          return value > 0.999F * static_cast<float>(ranks.size()) && value < 1.001F * static_cast<float>(ranks.size());
        });
  }
  std::printf("%s; the sums are %s\n", reduce.how().c_str(), right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
