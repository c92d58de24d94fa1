// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"
#include "kernels/blake3/blake3_rounds.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

constexpr unsigned chunk_threads = blake3_cuda_grain / blake3_chunk_bytes;
constexpr unsigned merge_threads = 256;
constexpr unsigned value_words = 8;

__device__ void start(std::uint32_t* value) {
  constexpr std::uint32_t words[8] = {blake3_start[0], blake3_start[1], blake3_start[2], blake3_start[3],
                                      blake3_start[4], blake3_start[5], blake3_start[6], blake3_start[7]};
#pragma unroll
  for (int i = 0; i < 8; ++i) value[i] = words[i];
}

/// Replaces the chaining value by its value after one more block.
__device__ void compress(std::uint32_t (&value)[8], std::uint32_t const (&message)[16], std::uint64_t counter,
                         std::uint32_t length, std::uint32_t flags) {
  std::uint32_t state[16];
#pragma unroll
  for (int i = 0; i < 8; ++i) state[i] = value[i];
  std::uint32_t fresh[8];
  start(fresh);
#pragma unroll
  for (int i = 0; i < 4; ++i) state[8 + i] = fresh[i];
  state[12] = static_cast<std::uint32_t>(counter);
  state[13] = static_cast<std::uint32_t>(counter >> 32);
  state[14] = length;
  state[15] = flags;
  Blake3Rounds<Blake3OneWord>::mix(state, message);
#pragma unroll
  for (int i = 0; i < 8; ++i) value[i] = state[i] ^ state[i + 8];
}

template <unsigned words>
__device__ void copy(std::uint32_t* to, std::uint32_t const* from) {
#pragma unroll
  for (unsigned i = 0; i < words; ++i) to[i] = from[i];
}

__device__ void load_full(std::uint32_t (&message)[16], uint4 const* from) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint4 const four = __ldg(from + i);
    message[4 * i] = four.x;
    message[4 * i + 1] = four.y;
    message[4 * i + 2] = four.z;
    message[4 * i + 3] = four.w;
  }
}

/// The first `length` bytes at `from`, and zeros after them; reads no byte beyond.
__device__ void load_part(std::uint32_t (&message)[16], std::byte const* from, std::uint32_t length) {
#pragma unroll
  for (std::uint32_t i = 0; i < 16; ++i) {
    std::uint32_t word = 0;
    for (std::uint32_t byte = 0; byte < 4 && i * 4 + byte < length; ++byte) {
      word |= static_cast<std::uint32_t>(from[i * 4 + byte]) << (8 * byte);
    }
    message[i] = word;
  }
}

__device__ void write_node(Blake3Node* node, std::uint32_t const* chaining, std::uint32_t const* message,
                           std::uint64_t counter, std::uint32_t length, std::uint32_t flags) {
  auto* const words = reinterpret_cast<std::uint32_t*>(node);
  copy<8>(words, chaining);
  copy<16>(words + 8, message);
  words[24] = length;
  words[25] = flags;
  words[26] = static_cast<std::uint32_t>(counter);
  words[27] = static_cast<std::uint32_t>(counter >> 32);
}
static_assert(offsetof(Blake3Node, block) == 32 && offsetof(Blake3Node, length) == 96 &&
              offsetof(Blake3Node, flags) == 100 && offsetof(Blake3Node, counter) == 104);

/// One thread's chunk of `length` bytes. Writes its node if `node` is given, else leaves its value in `value`.
__device__ void hash_chunk(std::byte const* input, std::uint32_t length, std::uint64_t chunk, Blake3Node* node,
                           std::uint32_t (&value)[8]) {
  constexpr std::uint32_t block_bytes = blake3_block_bytes;
  start(value);
  std::uint32_t flags = blake3_chunk_start;
  std::uint32_t message[16];
  auto const load = [&](std::uint32_t at) {
    if (at + block_bytes <= length) {
      load_full(message, reinterpret_cast<uint4 const*>(input + at));
    } else {
      load_part(message, input + at, length - at);
    }
  };
  std::uint32_t at = 0;
  load(at);
#pragma unroll 1
  for (; at + block_bytes < length; at += block_bytes) {
    std::uint32_t now[16];
    copy<16>(now, message);
    load(at + block_bytes);  // The next block is loaded while this one is mixed.
    compress(value, now, chunk, block_bytes, flags);
    flags = 0;
  }
  flags |= blake3_chunk_end;
  if (node != nullptr) {
    write_node(node, value, message, chunk, length - at, flags);
  } else {
    compress(value, message, chunk, length - at, flags);
  }
}

/// All threads of a block merge `count` values in place. If `node` is given the topmost parent goes there, else its
/// value is left in front.
///
/// Shape: a value that was merged lies where its leftmost one did, so at each level only one thread touches it.
__device__ void merge(std::uint32_t* values, unsigned count, Blake3Node* node) {
  for (unsigned distance = 1; distance < count; distance *= 2) {
    __syncthreads();
    for (unsigned left = threadIdx.x * 2 * distance; left + distance < count; left += blockDim.x * 2 * distance) {
      std::uint32_t value[8];
      std::uint32_t message[16];
      start(value);
      copy<8>(message, values + left * value_words);
      copy<8>(message + 8, values + (left + distance) * value_words);
      if (node != nullptr && 2 * distance >= count) {
        write_node(node, value, message, 0, blake3_block_bytes, blake3_is_parent);
      } else {
        compress(value, message, 0, blake3_block_bytes, blake3_is_parent);
        copy<8>(values + left * value_words, value);
      }
    }
  }
}

/// A thread takes a chunk, and a block merges its threads' values to one, or, if it is the only block, to the node.
__global__ void __launch_bounds__(chunk_threads)
    hash_chunks(std::byte const* input, std::uint64_t bytes, std::uint64_t first_chunk, std::uint32_t* values,
                Blake3Node* node) {
  __shared__ std::uint32_t shared[chunk_threads * value_words];
  std::uint64_t const offset = blockIdx.x * static_cast<std::uint64_t>(blake3_cuda_grain);
  std::uint64_t const left = bytes - offset;
  auto const here = static_cast<std::uint32_t>(left < blake3_cuda_grain ? left : blake3_cuda_grain);
  constexpr std::uint32_t chunk_bytes = blake3_chunk_bytes;
  unsigned const chunks = here == 0 ? 1 : (here + chunk_bytes - 1) / chunk_bytes;
  Blake3Node* const top = gridDim.x == 1 ? node : nullptr;
  if (threadIdx.x < chunks) {
    std::uint32_t const at = threadIdx.x * chunk_bytes;
    std::uint32_t const length = here - at < chunk_bytes ? here - at : chunk_bytes;
    std::uint32_t value[8];
    hash_chunk(input + offset + at, length, first_chunk + offset / chunk_bytes + threadIdx.x,
               chunks == 1 ? top : nullptr, value);
    copy<8>(shared + threadIdx.x * value_words, value);
  }
  merge(shared, chunks, top);
  if (threadIdx.x == 0) copy<8>(values + blockIdx.x * value_words, shared);
}

/// One block merges the values of hash_chunks.
__global__ void __launch_bounds__(merge_threads) merge_values(std::uint32_t* values, unsigned count, Blake3Node* node) {
  merge(values, count, node);
}

}  // namespace

void blake3_prepare_cuda() {
  load_kernel(hash_chunks, "Loading BLAKE3's chunk kernel");
  load_kernel(merge_values, "Loading BLAKE3's merge kernel");
}

void blake3_tile_cuda(DeviceSpan<std::byte const> input, std::uint64_t first_chunk, DeviceSpan<std::byte> node,
                      DeviceSpan<std::byte> scratch, void* stream) {
  auto* const top = reinterpret_cast<Blake3Node*>(node.address());
  auto* const values = reinterpret_cast<std::uint32_t*>(scratch.address());
  auto const blocks =
      static_cast<unsigned>(std::max<std::size_t>((input.size() + blake3_cuda_grain - 1) / blake3_cuda_grain, 1));
  launch_kernel<std::byte const*, std::uint64_t, std::uint64_t, std::uint32_t*, Blake3Node*>(
      hash_chunks, blocks, chunk_threads, stream, "BLAKE3's chunk kernel", input.address(), input.size(), first_chunk,
      values, top);
  if (blocks > 1) {
    launch_kernel<std::uint32_t*, unsigned, Blake3Node*>(merge_values, 1, merge_threads, stream,
                                                         "BLAKE3's merge kernel", values, blocks, top);
  }
}

}  // namespace penstock
