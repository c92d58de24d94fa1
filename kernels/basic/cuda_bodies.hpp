// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "penstock/device_memory.hpp"
#include "penstock/kernels.hpp"

namespace penstock {

struct Stamp;

/// Says that this build has no CUDA kernels, and what to do.
[[noreturn]] void refuse_without_cuda();

/// The GPU's bodies of the launchers, on a cudaStream_t. The launchers have checked the arguments.
///
/// Throws: Error, if the device refuses; of kind `unsupported` in a build without CUDA.
void blake3_prepare_cuda();
void blake3_tile_cuda(DeviceSpan<std::byte const> input, std::uint64_t first_chunk, DeviceSpan<std::byte> node,
                      DeviceSpan<std::byte> scratch, void* stream);
void busy_prepare_cuda();
void busy_cuda(std::chrono::nanoseconds duration, std::uint32_t blocks, Stamp* stamp, void* stream);
void combine_prepare_cuda(ElementType type, ReduceOperation operation);
void combine_cuda(DeviceSpan<std::byte const> from, DeviceSpan<std::byte> into, ElementType type,
                  ReduceOperation operation, void* stream);
void count_bytes_prepare_cuda();
void count_bytes_cuda(DeviceSpan<std::byte const> input, DeviceSpan<std::uint64_t> counts, std::size_t most_blocks,
                      void* stream);
void matrix_product_prepare_cuda();
void matrix_product_cuda(DeviceSpan<std::uint16_t const> a, DeviceSpan<std::uint16_t const> b, DeviceSpan<float> c,
                         std::uint32_t rows, std::uint32_t columns, std::uint32_t depth, void* stream);
void matrix_roof_cuda(std::uint32_t rounds, float factor, float other, DeviceSpan<float> to, void* stream);
void multiply_add_prepare_cuda();
void multiply_add_cuda(DeviceSpan<float const> from, std::uint32_t rounds, DeviceSpan<float> to, float factor,
                       float addend, void* stream);
void neighbour_sums_prepare_cuda();
void neighbour_sums_cuda(DeviceSpan<std::uint32_t const> from, DeviceSpan<std::uint32_t> to, void* stream);
void neighbour_sums_together_cuda(DeviceSpan<std::uint32_t> one, DeviceSpan<std::uint32_t> other, std::uint32_t rounds,
                                  std::uint32_t blocks, void* stream);
std::uint32_t neighbour_sums_at_once_cuda();
void sum_present_rows_prepare_cuda();
void sum_present_rows_cuda(DeviceSpan<std::uint32_t const> rows, DeviceSpan<std::uint32_t const> mask,
                           DeviceSpan<std::uint64_t> sums, void* stream);
void sum_prepare_cuda();
void sum_cuda(DeviceSpan<float const> one, DeviceSpan<float const> other, DeviceSpan<float> to, void* stream);
void transform_prepare_cuda();
void transform_cuda(DeviceSpan<float const> from, std::uint64_t first_index, DeviceSpan<float> to,
                    std::size_t most_blocks, void* stream);

/// Threads in a block of transform, count_bytes, neighbour_sums, resize_images, sum_lines and sum_packets.
inline constexpr unsigned block_threads = 256;
/// Number of such blocks that `multiprocessors` hold at once; no limit for 0. All GPUs of today hold at most 2048
/// threads on each multiprocessor.
constexpr std::size_t blocks_on(unsigned multiprocessors) noexcept {
  return multiprocessors == 0 ? std::numeric_limits<std::uint32_t>::max()
                              : std::size_t{multiprocessors} * (2048 / block_threads);
}

/// KernelCost::blocks of a kernel that would have `blocks`; 0, for not stated, if it has all multiprocessors.
constexpr std::uint32_t modelled_blocks(unsigned multiprocessors, std::size_t blocks) noexcept {
  return multiprocessors == 0 ? 0 : static_cast<std::uint32_t>(std::min(blocks_on(multiprocessors), blocks));
}

/// Bytes that one block of GPU threads hashes. Each block writes one value to scratch.
inline constexpr std::size_t blake3_cuda_grain = 128 * std::size_t{1024};

}  // namespace penstock
