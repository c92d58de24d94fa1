// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/lab/timeline.hpp"

namespace penstock::lab {

/// Something measured that is told, and judged only where it is certain.
struct Figure {
  std::string what;
  double value = 0;
  std::string unit;
};

/// Whether an experiment went as expected, and the measured fact that says so: half a sentence.
struct Verdict {
  bool as_expected = false;
  std::string fact;
};

/// Expects each to start only when the one before it had ended.
///
/// Shape: in the order that is expected; at least two.
Verdict one_after_another(std::span<Interval const> intervals);
/// Expects a moment at which all of them ran.
///
/// Shape: at least two.
Verdict all_at_once(std::span<Interval const> intervals);
/// Expects `one` to start when all `earlier` had ended, and all `later` when it had ended.
Verdict stands_between(std::span<Interval const> earlier, Interval const& one, std::span<Interval const> later);
/// Expects `urgent` to start before at least one of `patient`, all of which were given to the device before it.
Verdict overtakes(Interval const& urgent, std::span<Interval const> patient);
/// As expected if both are; says the facts of both.
Verdict both(Verdict const& one, Verdict const& other);

}  // namespace penstock::lab
