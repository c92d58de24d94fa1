// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/basic/half.hpp"
#include "kernels/basic/matrix_product.hpp"
#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

template <class T>
std::span<T> as(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Small whole numbers: all sums of products are exact.
std::vector<std::uint16_t> whole_numbers(std::size_t count, std::size_t step) {
  std::vector<std::uint16_t> halves(count);
  for (std::size_t i = 0; i < count; ++i) halves[i] = half_of(static_cast<float>(i * step % 17) - 8);
  return halves;
}

TEST_P(KernelsOn, MultiplyMatricesOfHalves) {
  matrix_product_prepare(stream());
  for (MatrixSize const size :
       {MatrixSize{128, 128, 32}, MatrixSize{128, 256, 96}, MatrixSize{256, 128, 64}, MatrixSize{256, 384, 128}}) {
    auto const a = whole_numbers(std::size_t{size.rows} * size.depth, 5);
    auto const b = whole_numbers(std::size_t{size.depth} * size.columns, 7);
    std::vector<float> c(std::size_t{size.rows} * size.columns, -1);
    auto const there_a = memory(a.size() * 2), there_b = memory(b.size() * 2), there_c = memory(c.size() * 4);
    upload(there_a, std::as_bytes(std::span(a)));
    upload(there_b, std::as_bytes(std::span(b)));
    upload(there_c, std::as_bytes(std::span(c)));
    matrix_product(as<std::uint16_t>(there_a), as<std::uint16_t>(there_b), as<float>(there_c), size, stream());
    download(std::as_writable_bytes(std::span(c)), there_c);
    for (std::uint32_t row = 0; row < size.rows; ++row) {
      for (std::uint32_t column = 0; column < size.columns; ++column) {
        float expected = 0;
        for (std::uint32_t k = 0; k < size.depth; ++k) {
          expected += float_of(a[row * size.depth + k]) * float_of(b[k * size.columns + column]);
        }
        ASSERT_EQ(c[row * size.columns + column], expected) << row << ", " << column << " of " << size.rows;
      }
    }
  }
}

TEST_P(KernelsOn, MultiplyNoMatricesThatDoNotFit) {
  auto const there = memory(128 * 128 * 4);
  auto const halves = as<std::uint16_t>(there), half = halves.first(128 * 64);
  auto const floats = as<float>(there);
  EXPECT_THROW(matrix_product(half, half, floats, {128, 127, 64}, stream()), Error);
  EXPECT_THROW(matrix_product(half, half, floats, {128, 128, 33}, stream()), Error);
  EXPECT_THROW(matrix_product({}, {}, floats, {128, 128, 0}, stream()), Error);
  EXPECT_THROW(matrix_product(half, half, floats.first(1), {128, 128, 64}, stream()), Error);
  matrix_product({}, {}, {}, {0, 0, 32}, stream());
}

TEST_P(KernelsOn, MultiplyInPlaceAsManyRoundsAsAreAskedFor) {
  auto const there = memory(2 * matrix_roof_block * sizeof(float));
  std::vector<float> found(2 * matrix_roof_block);
  for (std::uint32_t const rounds : {0U, 1U, 16U, 100U}) {
    matrix_roof(rounds, as<float>(there), stream());
    download(std::as_writable_bytes(std::span(found)), there);
    for (float const one : found) ASSERT_EQ(one, static_cast<float>(rounds) / 16) << rounds << " rounds";
  }
  EXPECT_THROW(matrix_roof(1, as<float>(there).first(255), stream()), Error);
}

TEST(Halves, AreTheNearestOfAFloat) {
  for (float const exact : {0.0F, 1.0F, -1.0F, 0.5F, 1.0009765625F, 65504.0F, 0x1p-14F, -0.333251953125F}) {
    EXPECT_EQ(float_of(half_of(exact)), exact);
  }
  EXPECT_EQ(half_of(1), 0x3c00);
  EXPECT_EQ(half_of(-2), 0xc000);
  EXPECT_EQ(float_of(half_of(1.0001F)), 1);
  EXPECT_EQ(float_of(half_of(2049.0F)), 2050) << "the larger of two that are as near";
  EXPECT_EQ(float_of(1), 0x1p-24F);
  EXPECT_TRUE(std::signbit(float_of(half_of(-0.0F))));
}

}  // namespace
}  // namespace penstock
