// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "penstock/device_memory.hpp"
#include "penstock/flavour.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

struct Stamp;

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
void count_bytes_cuda(DeviceSpan<std::byte const> input, DeviceSpan<std::uint64_t> counts, void* stream);
void multiply_add_prepare_cuda();
void multiply_add_cuda(DeviceSpan<float const> from, std::uint32_t rounds, DeviceSpan<float> to, float factor,
                       float addend, void* stream);
void sum_prepare_cuda();
void sum_cuda(DeviceSpan<float const> one, DeviceSpan<float const> other, DeviceSpan<float> to, void* stream);
void transform_prepare_cuda();
void transform_cuda(DeviceSpan<float const> from, std::uint64_t first_index, DeviceSpan<float> to, void* stream);

/// What one block of GPU threads hashes; of that many bytes one value goes to scratch.
inline constexpr std::size_t blake3_cuda_grain = 128 * std::size_t{1024};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
