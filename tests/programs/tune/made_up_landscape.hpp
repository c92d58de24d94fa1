// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "programs/tune/contest.hpp"

namespace penstock::measure {

/// A landscape that is a formula, on a clock of its own: no machine, and no time.
class MadeUpLandscape final : public Landscape {
 public:
  /// Worth of a point, and 0 where it fails.
  using Formula = std::function<double(Levels const&)>;

  MadeUpLandscape(std::vector<SearchAxis> of, Formula truly) : axes(std::move(of)), truth(std::move(truly)) {}

  std::optional<double> measure(Levels const& levels, Effort effort) override {
    now += effort == Effort::glance ? glance_seconds : 3 * glance_seconds;
    ++measured;
    double const value = truth(levels);
    if (value <= 0) return std::nullopt;
    double const strays = effort == Effort::glance ? noise : noise / 2;
    double const drifted = 1 + drift * std::sin(now / 7);
    bool const hiccup = std::bernoulli_distribution(hiccups)(random);
    double const strayed = strays > 0 ? std::normal_distribution<>(0, strays)(random) : 0;
    return value * drifted * std::exp(strayed) * (hiccup ? 0.6 : 1.0);
  }
  double elapsed() const override { return now; }
  bool allowed(Levels const& levels) const override { return !forbidden || !forbidden(levels); }
  double cost(Levels const& levels) const override {
    double sum = 0;
    for (std::size_t axis = 0; axis < levels.size(); ++axis) {
      if (axes[axis].ordered) sum += static_cast<double>(levels[axis]);
    }
    return sum;
  }

  double size() const {
    double all = 1;
    for (SearchAxis const& axis : axes) all *= static_cast<double>(axis.count);
    return all;
  }
  /// Calls `body` with every `step`-th level of each axis that has an order, and all of the others.
  void for_each(std::size_t step, std::function<void(Levels const&)> const& body) const {
    Levels levels(axes.size());
    for (;;) {
      body(levels);
      std::size_t axis = 0;
      for (; axis < axes.size(); ++axis) {
        levels[axis] += axes[axis].ordered ? step : 1;
        if (levels[axis] < axes[axis].count) break;
        levels[axis] = 0;
      }
      if (axis == axes.size()) return;
    }
  }
  /// The greatest worth of any point, by trying all of them.
  double highest() const {
    double most = 0;
    for_each(1, [&](Levels const& levels) { most = std::max(most, truth(levels)); });
    return most;
  }

  std::vector<SearchAxis> axes;
  Formula truth;
  std::function<bool(Levels const&)> forbidden = {};
  double glance_seconds = 0.12;
  double noise = 0;    ///< Noise of a glance, as a part; a look has half as much.
  double drift = 0;    ///< Rise and fall of the whole landscape, as a part.
  double hiccups = 0;  ///< Share of measurements in which something comes between and takes two fifths.
  double now = 0;
  std::size_t measured = 0;
  std::mt19937 random{1};
};

}  // namespace penstock::measure
