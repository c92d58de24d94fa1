// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "support/inline_stream.hpp"
#include <gtest/gtest.h>

#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// Ten floats and a stream that runs at once.
struct TransformOfTen : testing::Test {
  support::InlineStream backend;
  StreamRef stream{backend};
  std::vector<float> from = std::vector<float>(10, 0.25F);
  std::vector<float> to = std::vector<float>(10);
};

TEST_F(TransformOfTen, AddsOne) {
  transform(from, 123, to, stream);
  for (float const value : to) EXPECT_NEAR(value, 1.25F, 4e-7);
}

TEST_F(TransformOfTen, RefusesSpansOfTwoLengths) {
  EXPECT_THROW(transform(from, 0, std::span(to).first(9), stream), Error);
  EXPECT_THROW(transform_error(from, 0, std::span(to).first(9)), Error);
  EXPECT_EQ(backend.launches, 0);
}

TEST_F(TransformOfTen, RefusesIndicesBeyondItsPromise) {
  transform(from, (1u << 28) - 10, to, stream);
  EXPECT_THROW(transform(from, (1u << 28) - 9, to, stream), Error);
  EXPECT_THROW(transform(from, std::numeric_limits<std::uint64_t>::max(), to, stream), Error);
}

TEST_F(TransformOfTen, FindsTheOneThatIsWrong) {
  transform(from, 0, to, stream);
  EXPECT_LT(transform_error(from, 0, to), 4e-7);
  to[6] += 0.5F;
  EXPECT_NEAR(transform_error(from, 0, to), 0.5, 1e-6);
}

TEST_F(TransformOfTen, TakesNoNanForRight) {
  transform(from, 0, to, stream);
  to[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(transform_error(from, 0, to)));
}

}  // namespace
}  // namespace penstock
