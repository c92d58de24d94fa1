// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/stream.hpp"

namespace penstock {

/// Sizes of the product of a matrix of rows x depth and one of depth x columns.
///
/// Shape: rows and columns are multiples of 128, depth is one of 32 and not 0.
struct MatrixSize {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t depth = 0;
};

/// c = a b, in half precision: a and b are halves (IEEE binary16, finite), products are added as floats. On a GPU
/// blocks of 128 x 128 results go through shared memory to its tensor cores.
///
/// A modelled GPU computes only the first rows and columns, as many as `matrix_sample_rows` and
/// `matrix_sample_columns`: CPU threads cannot do the rest in the time that it takes on the GPU.
///
/// Shape:   memory of the stream's device, row-major without padding: a is rows x depth, b depth x columns, c rows x
///          columns, each aligned to 32 bytes. c is disjoint from both.
/// Threads: any.
/// Blocks:  never; c is valid once `stream` has passed this call.
/// Throws:  Error, if the sizes do not fit or the launch is refused. On the CPU device a launch may allocate.
void matrix_product(DeviceSpan<std::uint16_t const> a, DeviceSpan<std::uint16_t const> b, DeviceSpan<float> c,
                    MatrixSize size, StreamRef stream);

inline constexpr std::uint32_t matrix_sample_rows = 8;
inline constexpr std::uint32_t matrix_sample_columns = 32;

/// Floating-point operations of a call, and the bytes that it must read and write at least.
constexpr double matrix_product_flops(MatrixSize size) {
  return 2.0 * size.rows * size.columns * size.depth;
}
constexpr double matrix_product_bytes(MatrixSize size) {
  return 2.0 * size.depth * (static_cast<double>(size.rows) + size.columns) + 4.0 * size.rows * size.columns;
}

/// Does as much arithmetic of the same kind on numbers that stay in registers (on the CPU device in a cache): the bound
/// of the product if memory does not limit it. Each float becomes rounds / 16.
///
/// Shape:   `to` is memory of the stream's device, 256 floats for each block.
/// Threads, Blocks, Throws: as matrix_product.
void matrix_roof(std::uint32_t rounds, DeviceSpan<float> to, StreamRef stream);

inline constexpr std::size_t matrix_roof_block = 256;

/// Floating-point operations of a call.
constexpr double matrix_roof_flops(std::uint32_t rounds, std::size_t blocks) {
  return 2.0 * 128 * 128 * 8 * rounds * static_cast<double>(blocks);
}

/// Loads the kernels, as blake3_prepare does.
void matrix_product_prepare(StreamRef stream);

}  // namespace penstock
