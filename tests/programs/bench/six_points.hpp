// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "programs/measure/figures.hpp"

namespace penstock::cli {

/// Points of one, two and four producers, with two sizes of tiles each.
struct SixPoints : testing::Test {
  std::vector<measure::Axis> axes{{"tile", {"4096", "1048576"}}, {"producers", {"1", "2", "4"}}};
  std::vector<measure::PointResult> results;

  void SetUp() override {
    constexpr std::array<double, 6> rates{100, 180, 240, 10, 20, 25};
    constexpr std::array<unsigned, 3> producers{1, 2, 4};
    auto const points = measure::points_of(axes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      results.push_back({.point = points[i], .tiles_per_second = {rates[i]}, .last = measure::Trial{}});
      results.back().last->options.producers = producers[i % 3];
    }
  }
};

}  // namespace penstock::cli
