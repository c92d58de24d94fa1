// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "referee.hpp"

#include "penstock/device.hpp"

namespace baselines {

/// One way to do the work: a contestant with its knobs set.
struct Way {
  std::string knobs;      ///< The options in words; empty if there are none.
  std::size_t tiles = 0;  ///< Number of the referee's tiles that it uses; 0 if it brings its own.
  /// Does the work until the referee has seen enough.
  ///
  /// Throws: std::exception, if it cannot.
  std::function<void(Referee&)> run;
  /// Ways near this one, to be tried in step 1, 2 ... if it is the best so far; none if there are no more to try.
  std::function<std::vector<Way>(unsigned step)> near;
};

/// A program that does the work, in one way or another.
struct Contestant {
  std::string name;
  bool penstock = false;
  /// The ways to be tried first, for tiles of `bytes` bytes.
  std::function<std::vector<Way>(std::size_t bytes)> ways;
};

/// All baselines, each with a few values of its own knob.
std::vector<Contestant> all_baselines();
/// penstock with its default options, and penstock with its options swept. The device must outlive them.
std::vector<Contestant> penstock_itself(penstock::Device& device);

}  // namespace baselines
