// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/half.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::uint32_t side = 128;       ///< Results of a block, each way,
constexpr std::uint32_t depth_step = 32;  ///< and its step in the depth.
constexpr std::uint32_t roof_depth = 8;
/// Threads of a block for its cost on a model: it keeps the tensor cores of a multiprocessor busy, with whatever
/// threads it has.
constexpr std::uint32_t whole_multiprocessor = 2048;
constexpr float roof_factor = 1, roof_other = 1.0F / 1024;

/// Sums of one row of a block.
using Row = std::array<float, side>;

/// Inputs of one step as floats.
template <std::uint32_t Depth>
struct Step {
  std::array<std::array<float, Depth>, side> a;
  std::array<Row, Depth> b;

  void add_products(std::uint32_t row, Row& sums) const {
    for (std::uint32_t k = 0; k < Depth; ++k) {
      float const factor = a[row][k];
      for (std::uint32_t column = 0; column < side; ++column) sums[column] += factor * b[k][column];
    }
  }
};

struct Matrices {
  std::uint16_t const* a;
  std::uint16_t const* b;
  float* c;
  MatrixSize size;
};

void multiply_block(Matrices const& all, std::uint32_t row, std::uint32_t column) {
  MatrixSize const& size = all.size;
  for (std::uint32_t i = 0; i < side; ++i) {
    std::fill_n(all.c + std::size_t{row + i} * size.columns + column, side, 0.0F);
  }
  Step<depth_step> step;
  for (std::uint32_t depth = 0; depth < size.depth; depth += depth_step) {
    for (std::uint32_t i = 0; i < side; ++i) {
      std::uint16_t const* const from = all.a + std::size_t{row + i} * size.depth + depth;
      std::transform(from, from + depth_step, step.a[i].begin(), float_of);
    }
    for (std::uint32_t k = 0; k < depth_step; ++k) {
      std::uint16_t const* const from = all.b + std::size_t{depth + k} * size.columns + column;
      std::transform(from, from + side, step.b[k].begin(), float_of);
    }
    for (std::uint32_t i = 0; i < side; ++i) {
      float* const to = all.c + std::size_t{row + i} * size.columns + column;
      Row sums;
      std::copy_n(to, side, sums.begin());
      step.add_products(i, sums);
      std::ranges::copy(sums, to);
    }
  }
}

void multiply_sample(Matrices const& all) {
  MatrixSize const& size = all.size;
  for (std::uint32_t row = 0; row < matrix_sample_rows; ++row) {
    std::array<float, matrix_sample_columns> sums{};
    for (std::uint32_t k = 0; k < size.depth; ++k) {
      float const factor = float_of(all.a[std::size_t{row} * size.depth + k]);
      std::uint16_t const* const from = all.b + std::size_t{k} * size.columns;
      for (std::uint32_t column = 0; column < matrix_sample_columns; ++column) {
        sums[column] += factor * float_of(from[column]);
      }
    }
    std::ranges::copy(sums, all.c + std::size_t{row} * size.columns);
  }
}

void do_rounds(std::uint32_t rounds, float scale, float* to) {
  Step<roof_depth> step;
  for (auto& row : step.a) row.fill(roof_factor);
  for (auto& row : step.b) row.fill(roof_other);
  std::array<Row, side> sums{};
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t round = 0; round < rounds; ++round) step.add_products(row, sums[row]);
  }
  // Four sums of 16 products each on a GPU, of 8 products here.
  for (std::size_t i = 0; i < matrix_roof_block; ++i) to[i] = 8 * scale * sums[i % side][i / 2];
}

[[noreturn]] void refuse(std::string const& what) {
  throw Error(ErrorKind::bad_argument, what);
}

}  // namespace

void matrix_product(DeviceSpan<std::uint16_t const> a, DeviceSpan<std::uint16_t const> b, DeviceSpan<float> c,
                    MatrixSize size, StreamRef stream) {
  auto const [rows, columns, depth] = size;
  if (rows % side != 0 || columns % side != 0 || depth % depth_step != 0 || depth == 0) {
    refuse("matrix_product takes rows and columns in multiples of 128, and a depth in multiples of 32, not " +
           std::to_string(rows) + ", " + std::to_string(columns) + " and " + std::to_string(depth) +
           ": fill up with zeros.");
  }
  if (a.size() != std::size_t{rows} * depth || b.size() != std::size_t{depth} * columns ||
      c.size() != std::size_t{rows} * columns) {
    refuse("matrix_product was given " + std::to_string(a.size()) + " and " + std::to_string(b.size()) +
           " halves for " + std::to_string(c.size()) + " floats: give rows x depth, depth x columns, rows x columns.");
  }
  if (c.empty()) return;
  if (stream.kind() == DeviceKind::cuda) return matrix_product_cuda(a, b, c, rows, columns, depth, stream.native());
  std::uint32_t const across = columns / side, blocks = rows / side * across;
  bool const modelled = stream.modelled();
  stream.launch(modelled ? 1 : blocks,
                [=](KernelBlock block) {
                  Matrices const all{a.in(block).data(), b.in(block).data(), c.in(block).data(), size};
                  if (modelled) return multiply_sample(all);
                  multiply_block(all, block / across * side, block % across * side);
                },
                {.reads = {a.as<std::byte const>(), b.as<std::byte const>()},
                 .writes = c.as<std::byte const>(),
                 .tensor_flops = matrix_product_flops(size),
                 .blocks = blocks,
                 .block_threads = whole_multiprocessor});
}

void matrix_roof(std::uint32_t rounds, DeviceSpan<float> to, StreamRef stream) {
  if (to.size() % matrix_roof_block != 0) {
    refuse("matrix_roof writes 256 floats for each block, not " + std::to_string(to.size()) + " in all.");
  }
  if (to.empty()) return;
  auto const blocks = static_cast<std::uint32_t>(to.size() / matrix_roof_block);
  if (stream.kind() == DeviceKind::cuda) return matrix_roof_cuda(rounds, roof_factor, roof_other, to, stream.native());
  std::uint32_t const done = stream.modelled() ? std::min(rounds, 1U) : rounds;
  float const scale = done == 0 ? 0 : static_cast<float>(rounds) / static_cast<float>(done);
  stream.launch(blocks, [=](KernelBlock block) { do_rounds(done, scale, &to.in(block)[block * matrix_roof_block]); },
                {.writes = to.as<std::byte const>(),
                 .tensor_flops = matrix_roof_flops(rounds, blocks),
                 .blocks = blocks,
                 .block_threads = whole_multiprocessor});
}

void matrix_product_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) matrix_product_prepare_cuda();
}

}  // namespace penstock
