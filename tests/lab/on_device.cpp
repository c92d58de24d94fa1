// SPDX-License-Identifier: Apache-2.0
#include "lab/on_device.hpp"

#include "penstock/lab/experiments.hpp"
#include "penstock/lab/timeline.hpp"

namespace penstock::lab {
namespace {

/// The model is held to the real thing: what is expected does not ask which device it is.
TEST_P(Laboratory, FindsThatAllGoesAsExpected) {
  for (Experiment const& experiment : all_experiments()) {
    auto const seen = observe(device(), experiment);
    std::string lines;
    for (auto const& line : draw(seen.intervals, 100)) lines += line + "\n";
    EXPECT_TRUE(seen.verdict.as_expected) << experiment.name << ": " << seen.verdict.fact << "\n" << lines;
    EXPECT_FALSE(seen.verdict.fact.empty()) << experiment.name;
  }
}

}  // namespace
}  // namespace penstock::lab
