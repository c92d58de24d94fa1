// SPDX-License-Identifier: Apache-2.0
// Tiles in memory that another process maps: the device's results are there the moment a tile is done, and no byte is
// copied to hand them over. The other process is a child here, which is told where a result lies and adds it up.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/penstock.hpp>
#include <penstock/pipeline.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace penstock;

namespace {

constexpr std::uint64_t tiles = 32;
constexpr std::size_t per_tile = 1 << 16;
constexpr std::size_t memory_bytes = 8 << 20;

/// Place of a result, and its sum.
struct Message {
  std::size_t offset = 0;
  double sum = 0;
};

/// The other process adds up the parts that it is told of, and answers, until there are no more.
void add_up(float const* memory, int from, int to) {
  for (Message message; read(from, &message, sizeof(message)) == sizeof(message);) {
    float const* const result = memory + message.offset;
    message.sum = std::accumulate(result, result + per_tile, 0.0);
    if (write(to, &message, sizeof(message)) != sizeof(message)) return;
  }
}

}  // namespace

int main() try {
  int const file = memfd_create("tiles", MFD_CLOEXEC);
  if (ftruncate(file, memory_bytes) != 0) return std::perror("ftruncate"), 1;
  void* const mapped = mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int there[2], back[2];
  if (mapped == MAP_FAILED || pipe(there) != 0 || pipe(back) != 0) return std::perror("mmap or pipe"), 1;
  pid_t const child = fork();  // This comes before there are threads or devices.
  if (child == 0) {
    close(there[1]);
    add_up(static_cast<float const*>(mapped), there[0], back[1]);
    _exit(0);
  }
  close(back[1]);

  Devices const devices = open_devices();
  std::span const memory(static_cast<std::byte*>(mapped), memory_bytes);
  PipelineOptions options{.tile = tile_of<float>(per_tile), .own_memory = {memory}};
  std::size_t needed = 0;
  for (MemoryNeeded const& part : memory_needed(devices, options)) needed += part.bytes;
  Pipeline pipeline(devices, options);

  auto const stage = on_device([](DeviceTileOf<float, float> tile, StreamRef stream) {
    transform(tile.input, tile.sequence * per_tile, tile.output, stream);
  });
  auto const fill = [](TilePlace tile, std::span<float> in) {
    std::ranges::fill(in, static_cast<float>(tile.index % 5));
    return in.size();
  };
  std::uint64_t right = 0;
  auto const sink = [&](TileResult<float> result) {
    auto const here = result.output();
    Message message{.offset = static_cast<std::size_t>(here.data() - static_cast<float const*>(mapped))};
    // The tile is the other process's until it answers: only then may the sink return, and the tile go home.
    bool const answered = write(there[1], &message, sizeof(message)) == sizeof(message) &&
                          read(back[0], &message, sizeof(message)) == sizeof(message);
    right += answered && message.sum == std::accumulate(here.begin(), here.end(), 0.0) ? 1 : 0;
  };
  Report const report = pipeline.run(generate(tiles, fill), stage, sink);
  close(there[1]);
  waitpid(child, nullptr, 0);

  std::printf("%s\n", describe(report).c_str());
  std::printf("%zu tiles in %zu KiB of shared memory, of %zu KiB that all would need\n", report.pool_tiles,
              report.pool_bytes >> 10, needed >> 10);
  std::printf("%llu of %llu results were the same in the other process\n", static_cast<unsigned long long>(right),
              static_cast<unsigned long long>(tiles));
  return report.ok() && right == tiles ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
