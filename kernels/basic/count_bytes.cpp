// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

constexpr std::size_t values = 256;
/// Bytes of one CPU block: some 50 us of work, compared with which adding 256 counts is little.
constexpr std::size_t cpu_grain = 65'536;
/// Bytes of one block of a GPU.
constexpr std::size_t gpu_grain = std::size_t{16} * block_threads;

}  // namespace

void count_bytes(DeviceSpan<std::byte const> input, DeviceSpan<std::uint64_t> counts, StreamRef stream,
                 unsigned multiprocessors) {
  if (counts.size() != values) {
    throw Error(ErrorKind::bad_argument,
                "count_bytes has " + std::to_string(counts.size()) + " counts: give it 256, one for each value.");
  }
  if (input.empty()) return;
  if (stream.kind() == DeviceKind::cuda) {
    return count_bytes_cuda(input, counts, blocks_on(multiprocessors), stream.native());
  }
  auto const blocks = static_cast<std::uint32_t>((input.size() + cpu_grain - 1) / cpu_grain);
  stream.launch(
      blocks,
      [=](KernelBlock block) {
        std::array<std::uint32_t, values> own{};
        std::size_t const begin = block * cpu_grain;
        for (std::byte const byte : input.in(block).subspan(begin, std::min(cpu_grain, input.size() - begin))) {
          ++own[std::to_integer<std::size_t>(byte)];
        }
        // Other blocks add as well; a thread that reads the counts waits for the stream, which orders them.
        for (std::size_t value = 0; value < values; ++value) {
          std::atomic_ref(counts.in(block)[value]).fetch_add(own[value], std::memory_order_relaxed);
        }
      },
      {.reads = {input},
       .blocks = modelled_blocks(multiprocessors, (input.size() + gpu_grain - 1) / gpu_grain),
       .block_threads = block_threads});
}

void count_bytes_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) count_bytes_prepare_cuda();
}

}  // namespace penstock
