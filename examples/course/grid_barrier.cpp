// SPDX-License-Identifier: Apache-2.0
// Rounds that need all results of the round before: a launch is the barrier, since a kernel begins when all blocks of
// the one before it in the stream have ended. The first argument is cpu or a model; on a GPU run grid_barrier_cuda.
#include <cstdio>
#include <utility>

#include "floats.hpp"
#include <penstock/models/devices.hpp>

using namespace penstock;
using namespace course;

namespace {

constexpr std::size_t blocks = 8, block_size = 256, size = blocks * block_size;

/// to[i] = the mean of the neighbours of from[i], in a ring: so each block reads what others wrote.
void mean_of_neighbours(DeviceSpan<float const> from, DeviceSpan<float> to, StreamRef stream) {
  stream.launch(blocks, [=](KernelBlock block) {
    for (std::size_t i = block * block_size; i < (block + 1) * block_size; ++i) {
      to.in(block)[i] = (from.in(block)[(i + size - 1) % size] + from.in(block)[(i + 1) % size]) / 2;
    }
  });
}

}  // namespace

int main(int count, char** arguments) try {
  auto const device = open_device(count > 1 ? arguments[1] : "cpu");
  constexpr int rounds = 64;
  PinnedFloats const host(*device, size);
  DeviceFloats const one(*device, size), other(*device, size);
  Stream const stream = device->make_stream();
  for (std::size_t i = 0; i < size; ++i) host.values()[i] = i % 2 == 0 ? 1.0F : 3.0F;

  upload(one.values(), host.values(), stream);
  auto from = one.values(), to = other.values();
  for (int round = 0; round < rounds; ++round) {
    mean_of_neighbours(from, to, stream);
    std::swap(from, to);
  }
  download(host.values(), from, stream);
  stream.synchronize();

  // Ones and threes change places in each round, so after an even number of them all is as it was.
  bool right = true;
  for (std::size_t i = 0; i < size; ++i) right = right && host.values()[i] == (i % 2 == 0 ? 1.0F : 3.0F);
  std::printf("%d rounds by %d launches: %s\n", rounds, rounds, right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
