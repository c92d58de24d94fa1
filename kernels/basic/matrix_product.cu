// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>
#include <mma.h>

#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

namespace wmma = nvcuda::wmma;

constexpr unsigned product_threads = 256;
constexpr unsigned product_side = 128;  // Results of a block, each way,
constexpr unsigned product_depth = 32;  // and its step in the depth.
constexpr unsigned fragment_side = 16;
// The 8 warps are 2 along the rows by 4 along the columns.
constexpr unsigned warp_rows = 64, warp_columns = 32, warps_across = product_side / warp_columns;
constexpr unsigned fragments_down = warp_rows / fragment_side, fragments_across = warp_columns / fragment_side;
// Rows in shared memory have unused elements at their end, so that they begin in different banks.
constexpr unsigned unused = 8;
constexpr unsigned halves_of_a_load = sizeof(int4) / sizeof(half);
constexpr unsigned loads = product_side * product_depth / halves_of_a_load / product_threads;

using Left = wmma::fragment<wmma::matrix_a, fragment_side, fragment_side, fragment_side, half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, fragment_side, fragment_side, fragment_side, half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, fragment_side, fragment_side, fragment_side, float>;

struct InputTiles {
  half a[product_side][product_depth + unused];
  half b[product_depth][product_side + unused];
};

// Parts of the next tiles that a thread has loaded, while the block works on the tiles before.
struct Ahead {
  int4 a[loads];
  int4 b[loads];

  __device__ void load(half const* from_a, half const* from_b, unsigned depth, unsigned columns) {
    constexpr unsigned a_row = product_depth / halves_of_a_load, b_row = product_side / halves_of_a_load;
    for (unsigned i = 0; i < loads; ++i) {
      unsigned const n = threadIdx.x + i * product_threads;
      a[i] = *reinterpret_cast<int4 const*>(from_a + std::size_t{n / a_row} * depth + n % a_row * halves_of_a_load);
      b[i] = *reinterpret_cast<int4 const*>(from_b + std::size_t{n / b_row} * columns + n % b_row * halves_of_a_load);
    }
  }
  __device__ void store(InputTiles& to) const {
    constexpr unsigned a_row = product_depth / halves_of_a_load, b_row = product_side / halves_of_a_load;
    for (unsigned i = 0; i < loads; ++i) {
      unsigned const n = threadIdx.x + i * product_threads;
      *reinterpret_cast<int4*>(&to.a[n / a_row][n % a_row * halves_of_a_load]) = a[i];
      *reinterpret_cast<int4*>(&to.b[n / b_row][n % b_row * halves_of_a_load]) = b[i];
    }
  }
};

__global__ void __launch_bounds__(product_threads)
    multiply_matrices(half const* a, half const* b, float* c, unsigned columns, unsigned depth) {
  __shared__ alignas(32) InputTiles tiles[2];
  unsigned const across = columns / product_side;
  std::size_t const first_row = std::size_t{blockIdx.x / across} * product_side;
  std::size_t const first_column = std::size_t{blockIdx.x % across} * product_side;
  unsigned const warp = threadIdx.x / warpSize;
  unsigned const row = warp / warps_across * warp_rows, column = warp % warps_across * warp_columns;
  half const* from_a = a + first_row * depth;
  half const* from_b = b + first_column;

  Sums sums[fragments_down][fragments_across];
  for (auto& some : sums) {
    for (auto& one : some) wmma::fill_fragment(one, 0.0F);
  }
  Ahead ahead;
  ahead.load(from_a, from_b, depth, columns);
  ahead.store(tiles[0]);
  __syncthreads();
  for (unsigned step = 0, steps = depth / product_depth; step < steps; ++step) {
    bool const more = step + 1 < steps;
    from_a += product_depth;
    from_b += std::size_t{product_depth} * columns;
    if (more) ahead.load(from_a, from_b, depth, columns);
    InputTiles const& now = tiles[step % 2];
#pragma unroll
    for (unsigned k = 0; k < product_depth; k += fragment_side) {
      Left left[fragments_down];
      Right right[fragments_across];
#pragma unroll
      for (unsigned i = 0; i < fragments_down; ++i) {
        wmma::load_matrix_sync(left[i], &now.a[row + i * fragment_side][k], product_depth + unused);
      }
#pragma unroll
      for (unsigned j = 0; j < fragments_across; ++j) {
        wmma::load_matrix_sync(right[j], &now.b[k][column + j * fragment_side], product_side + unused);
      }
#pragma unroll
      for (unsigned i = 0; i < fragments_down; ++i) {
#pragma unroll
        for (unsigned j = 0; j < fragments_across; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
      }
    }
    // No warp reads the other tiles any more: all have passed the barrier of the step before.
    if (more) ahead.store(tiles[(step + 1) % 2]);
    __syncthreads();
  }
  for (unsigned i = 0; i < fragments_down; ++i) {
    for (unsigned j = 0; j < fragments_across; ++j) {
      float* const to = c + (first_row + row + i * fragment_side) * columns + first_column + column + j * fragment_side;
      wmma::store_matrix_sync(to, sums[i][j], columns, wmma::mem_row_major);
    }
  }
}

constexpr unsigned chains = 4;  // Number of independent products of a warp.

__global__ void __launch_bounds__(product_threads)
    multiply_in_registers(std::uint32_t rounds, float factor, float other, float zero, float* to) {
  Left left;
  Right right;
  Sums sums[chains];
  wmma::fill_fragment(left, __float2half(factor));
  wmma::fill_fragment(right, __float2half(other));
  // The compiler must not know that all are the same, and each of their numbers is used: otherwise it would leave some
  // out.
  for (unsigned i = 0; i < chains; ++i) wmma::fill_fragment(sums[i], zero * static_cast<float>(i + 1));
  for (std::uint32_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned i = 0; i < chains; ++i) wmma::mma_sync(sums[i], left, right, sums[i]);
  }
  float all = 0;
  for (auto const& some : sums) {
    for (int i = 0; i < Sums::num_elements; ++i) all += some.x[i];
  }
  to[std::size_t{blockIdx.x} * product_threads + threadIdx.x] = all / Sums::num_elements;
}

}  // namespace

void matrix_product_prepare_cuda() {
  load_kernel(multiply_matrices, "Loading the matrix product");
  load_kernel(multiply_in_registers, "Loading the matrix roof");
}

void matrix_product_cuda(DeviceSpan<std::uint16_t const> a, DeviceSpan<std::uint16_t const> b, DeviceSpan<float> c,
                         std::uint32_t rows, std::uint32_t columns, std::uint32_t depth, void* stream) {
  unsigned const blocks = rows / product_side * (columns / product_side);
  launch_kernel<half const*, half const*, float*, unsigned, unsigned>(
      multiply_matrices, blocks, product_threads, stream, "The matrix product",
      reinterpret_cast<half const*>(a.address()), reinterpret_cast<half const*>(b.address()), c.address(), columns,
      depth);
}

void matrix_roof_cuda(std::uint32_t rounds, float factor, float other, DeviceSpan<float> to, void* stream) {
  launch_kernel<std::uint32_t, float, float, float, float*>(
      multiply_in_registers, static_cast<unsigned>(to.size() / product_threads), product_threads, stream,
      "The matrix roof", rounds, factor, other, 0.0F, to.address());
}

}  // namespace penstock
