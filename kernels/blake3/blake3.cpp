// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/blake3/blake3_subtree.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// Bytes that one CPU block hashes: some 40 us of work, so that a 4 MiB tile keeps up to 32 threads busy.
constexpr std::size_t cpu_grain = 128 * blake3_chunk_bytes;
constexpr std::size_t smallest_grain = std::min(cpu_grain, blake3_cuda_grain);

constexpr std::size_t ceiling(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit;
}

bool aligned(void const* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

void check(DeviceSpan<std::byte const> input, std::uint64_t first_chunk, DeviceSpan<std::byte> node,
           DeviceSpan<std::byte> scratch) {
  auto const refuse = [](std::string const& sentence) { throw Error(ErrorKind::bad_argument, sentence); };
  if (node.size() != sizeof(Blake3Node)) {
    refuse("blake3_tile writes a node of " + std::to_string(sizeof(Blake3Node)) + " bytes, but was given room for " +
           std::to_string(node.size()) + ".");
  }
  if (std::size_t const needed = blake3_scratch_bytes(input.size()); scratch.size() < needed) {
    refuse("blake3_tile needs " + std::to_string(needed) + " bytes of scratch for a tile of " +
           std::to_string(input.size()) + ", but was given " + std::to_string(scratch.size()) +
           ": ask blake3_scratch_bytes.");
  }
  if (!aligned(input.address()) || !aligned(node.address()) || !aligned(scratch.address())) {
    refuse("blake3_tile needs input, node and scratch at addresses that are multiples of 16.");
  }
  if (first_chunk % std::bit_ceil(std::max<std::size_t>(ceiling(input.size(), blake3_chunk_bytes), 1)) != 0) {
    refuse("A tile of " + std::to_string(input.size()) + " bytes cannot begin at chunk " + std::to_string(first_chunk) +
           ": the chunks before it must be a multiple of the tile's, rounded up to a power of two.");
  }
}

void tile_on_cpu(DeviceSpan<std::byte const> input, std::uint64_t first_chunk, DeviceSpan<std::byte> node,
                 DeviceSpan<std::byte> scratch, StreamRef stream) {
  std::size_t const grains = std::max<std::size_t>(ceiling(input.size(), cpu_grain), 1);
  if (grains == 1) {
    stream.launch(1,
                  [=](KernelBlock block) {
                    Blake3Node const top = blake3_subtree(input.in(block), first_chunk);
                    std::memcpy(node.in(block).data(), &top, sizeof top);
                  },
                  {.reads = {input}});
    return;
  }
  DeviceSpan<std::byte> const values = scratch.first(grains * blake3_value_bytes);
  stream.launch(static_cast<std::uint32_t>(grains),
                [=](KernelBlock block) {
                  std::size_t const start = block * cpu_grain;
                  std::span const part = input.in(block).subspan(start, std::min(cpu_grain, input.size() - start));
                  Blake3Value const value =
                      blake3_value(blake3_subtree(part, first_chunk + start / blake3_chunk_bytes));
                  std::memcpy(&values.in(block)[block * blake3_value_bytes], value.data(), blake3_value_bytes);
                },
                {.reads = {input}});
  stream.launch(1, [=](KernelBlock block) {
    Blake3Node const top = blake3_merge(values.in(block));
    std::memcpy(node.in(block).data(), &top, sizeof top);
  });
}

}  // namespace

std::size_t blake3_scratch_bytes(std::size_t largest_input) noexcept {
  return std::max<std::size_t>(ceiling(largest_input, smallest_grain), 1) * blake3_value_bytes;
}

void blake3_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) blake3_prepare_cuda();
}

void blake3_tile(DeviceSpan<std::byte const> input, std::uint64_t first_chunk, DeviceSpan<std::byte> node,
                 DeviceSpan<std::byte> scratch, StreamRef stream) {
  check(input, first_chunk, node, scratch);
  if (stream.kind() == DeviceKind::cuda) {
    blake3_tile_cuda(input, first_chunk, node, scratch, stream.native());
  } else {
    tile_on_cpu(input, first_chunk, node, scratch, stream);
  }
}

}  // namespace penstock
