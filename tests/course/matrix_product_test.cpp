// SPDX-License-Identifier: Apache-2.0
// The verdict on matrix products; texts_on_model_test.cpp has the experiment.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "course/judgements.hpp"

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

std::vector<ProductSeen> const products{
    {.name = "256 x 256", .possible = 1us, .measured = 5us, .flops = 3e7, .depth = 256, .greatest_error = 1e-5},
    {.name = "4096 x 4096", .possible = 2ms, .measured = 3ms, .flops = 1.5e11, .depth = 4096, .greatest_error = 3e-5}};

TEST(AVerdictOnProducts, SaysHowFarFromItsBoundTheLastIs) {
  auto const verdict = verdict_on_products(products, true);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact,
            "4096 x 4096 took 3.00 ms, 1.50 times as long as is possible, and came to 50 TFLOP/s; the greatest error "
            "was 3e-05");
}

TEST(AVerdictOnProducts, ComparesWithTheDataSheetWhereThereIsOne) {
  auto seen = products;
  seen[1].predicted = 1ms;
  EXPECT_NE(verdict_on_products(seen, true).fact.find("3.00 times as long as the data sheet predicts"),
            std::string::npos);
  EXPECT_TRUE(verdict_on_products(seen, true).as_expected);
  seen[1].predicted = 4ms;
  EXPECT_FALSE(verdict_on_products(seen, true).as_expected) << "nothing is faster than its data sheet";
}

TEST(AVerdictOnProducts, BearsNoneThatIsFasterThanItsBoundAndNoLargeError) {
  auto seen = products;
  seen[0].measured = 800ns;
  EXPECT_FALSE(verdict_on_products(seen, true).as_expected);
  EXPECT_TRUE(verdict_on_products(seen, false).as_expected);
  seen = products;
  seen[1].measured = 11ms;
  EXPECT_FALSE(verdict_on_products(seen, true).as_expected) << "the larger was farther from its bound";
  seen = products;
  seen[0].greatest_error = 0.01;
  EXPECT_FALSE(verdict_on_products(seen, false).as_expected);
}

}  // namespace
}  // namespace penstock::lab
