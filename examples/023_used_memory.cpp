// SPDX-License-Identifier: Apache-2.0
// Work that lies in memory of the application: tiles stand for pieces of it, and no byte is copied into them. Here it
// is a mapped file, this program's own or the one that is named, whose bytes are counted by value.
#include <cstdio>
#include <numeric>

#include <fcntl.h>
#include <penstock/collective.hpp>
#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace penstock;

int main(int count, char** words) try {
  int const file = open(count > 1 ? words[1] : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat found = {};
  if (file < 0 || fstat(file, &found) != 0) return std::perror("the file"), 1;
  auto const size = static_cast<std::size_t>(found.st_size);
  // Private pages that are never written are those of the page cache.
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (mapped == MAP_FAILED) return std::perror("mmap"), 1;
  std::span const memory(static_cast<std::byte*>(mapped), size);

  Devices const devices = open_devices("cpu");
  std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t const pages = (size + page - 1) / page * page;
  Pinned const pinned = devices.front().pin({memory.data(), pages});
  constexpr std::size_t piece = std::size_t{1} << 20;
  Pipeline pipeline(devices, {.tile = {.input_bytes = piece, .output_bytes = 0}});
  Reduction<std::uint64_t> counts(devices, 256);
  pipeline.start(counts.on_device([](DeviceTile const& tile, DeviceSpan<std::uint64_t> of_this_lane,
                                     StreamRef stream) { count_bytes(tile.input, of_this_lane, stream); },
                                  count_bytes_prepare),
                 [](Completion&) {});
  Feed feed = pipeline.feed();
  for (std::size_t at = 0; at < size; at += piece) {
    Loan loan = feed.borrow();
    loan->use_memory(memory.subspan(at, std::min(piece, size - at)));
    feed.submit(std::move(loan));
  }
  Report const report = pipeline.drain();
  auto const total = counts.merge();

  std::uint64_t const counted = std::accumulate(total.values.begin(), total.values.end(), std::uint64_t{0});
  std::printf("%s\n%llu of %zu bytes were counted\n", describe(report).c_str(),
              static_cast<unsigned long long>(counted), size);
  return report.ok() && counted == size ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
