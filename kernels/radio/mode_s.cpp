// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "kernels/radio/mode_s_rules.hpp"
#include "kernels/radio/mode_s_samples.hpp"
#include "kernels/radio/radio_on_cuda.hpp"
#include "penstock/error.hpp"
#include "penstock/radio.hpp"

namespace penstock {
namespace {

/// Blocks of samples for one CPU block: some 100 us of work.
constexpr std::size_t cpu_grain = 16;

void find_on_cpu(DeviceSpan<std::byte const> input, DeviceSpan<ModeSBlock> blocks, StreamRef stream,
                 unsigned multiprocessors) {
  std::size_t const count = mode_s_blocks(input.size());
  stream.launch(static_cast<std::uint32_t>((count + cpu_grain - 1) / cpu_grain),
                [=](KernelBlock block) {
                  auto const bytes = input.in(block);
                  auto const samples = std::span(reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size());
                  auto const all = blocks.in(block);
                  for (std::size_t k = block * cpu_grain; k < std::min(count, (block + 1) * cpu_grain); ++k) {
                    std::size_t const first = k * mode_s_block_samples;
                    all[k].found = 0;
                    for (bool const between : {false, true}) {
                      ModeSSamples(samples.subspan(2 * first), between).find(static_cast<std::uint32_t>(first), all[k]);
                    }
                  }
                },
                {.reads = {input},
                 .writes = DeviceSpan<std::byte const>(reinterpret_cast<std::byte const*>(blocks.address()),
                                                       count * sizeof(ModeSBlock)),
                 .blocks = modelled_blocks(multiprocessors, count),
                 .block_threads = mode_s_threads});
}

}  // namespace

void find_mode_s(DeviceSpan<std::byte const> input, DeviceSpan<ModeSBlock> blocks, StreamRef stream,
                 unsigned multiprocessors) {
  std::size_t const count = mode_s_blocks(input.size());
  if (blocks.size() < count) {
    throw Error(ErrorKind::bad_argument, "find_mode_s has room for the frames of " + std::to_string(blocks.size()) +
                                             " blocks of samples, and its input has " + std::to_string(count) +
                                             ": give it mode_s_blocks(input.size()).");
  }
  if (count == 0) return;
  if (stream.kind() == DeviceKind::cuda) {
    find_mode_s_cuda(input, blocks, blocks_on(multiprocessors), stream.native());
  } else {
    find_on_cpu(input, blocks, stream, multiprocessors);
  }
}

void find_mode_s_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) find_mode_s_prepare_cuda();
}

}  // namespace penstock
