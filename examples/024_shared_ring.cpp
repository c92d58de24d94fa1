// SPDX-License-Identifier: Apache-2.0
// Another process writes into shared memory, and a device counts the bytes there by value: no byte is copied on the
// host. This program is both: it starts itself again as the writer. Name a device, as in cuda:0; unnamed it is the CPU
// device.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include <penstock/collective.hpp>
#include <penstock/ingest/shared_ring.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace penstock;

constexpr std::uint64_t pieces = 100;

/// The writer, which needs no device and no pipeline. The tag of each piece is the sum of its bytes.
int write_pieces(char const* path) {
  SharedRingWriter writer(path);
  std::minstd_rand random(1);
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    std::span<std::byte> const room = writer.claim();  // Waits here while the reader has all slots.
    std::size_t const bytes = room.size() - 1000 * piece;
    std::uint64_t sum = 0;
    for (std::byte& byte : room.first(bytes)) {
      byte = static_cast<std::byte>(random() >> 8);
      sum += std::to_integer<std::uint64_t>(byte);
    }
    writer.commit(bytes, sum);
  }
  return 0;
}

int read_pieces(char const* program, char const* device, std::string const& path) {
  Devices const devices = open_devices(device);
  SharedRing ring(path, {.slot_bytes = std::size_t{1} << 20, .slots = 8});
  Pinned const pinned = devices.front().pin(ring.memory());

  char* const words[] = {const_cast<char*>(program), const_cast<char*>("write"), const_cast<char*>(path.c_str()),
                         nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, words, environ) != 0) return std::perror("spawn"), 1;

  Pipeline pipeline(devices, {.tile = {.input_bytes = ring.shape().slot_bytes, .output_bytes = 0}});
  SharedRingSource source(ring, pipeline.pool(), {.idle = std::chrono::seconds(20)});
  Reduction<std::uint64_t> counts(devices, 256);
  std::uint64_t sum_there = 0;
  Report const report =
      pipeline.run(source,
                   counts.on_device([](DeviceTile const& tile, DeviceSpan<std::uint64_t> of_this_lane,
                                       StreamRef stream) { count_bytes(tile.input, of_this_lane, stream); },
                                    count_bytes_prepare),
                   [&](Completion& done) { sum_there += done.loan->tag; });
  int status = 0;
  waitpid(child, &status, 0);

  auto const total = counts.merge();
  std::uint64_t sum_here = 0;
  for (std::size_t value = 0; value < total.values.size(); ++value) sum_here += value * total.values[value];
  std::printf("%s\n%" PRIu64 " pieces came; their bytes are %" PRIu64 " together, of %" PRIu64 " that were written\n",
              describe(report).c_str(), ring.counts().pieces, sum_here, sum_there);
  return report.ok() && status == 0 && ring.counts().pieces == pieces && sum_here == sum_there ? 0 : 1;
}

int main(int count, char** words) try {
  if (count == 3 && std::strcmp(words[1], "write") == 0) return write_pieces(words[2]);
  return read_pieces(words[0], count > 1 ? words[1] : "cpu", "/tmp/penstock-example-" + std::to_string(getpid()));
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
