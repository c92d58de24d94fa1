// SPDX-License-Identifier: Apache-2.0
#include "course/on_device.hpp"

#include "course/timeline.hpp"

namespace penstock::lab {
namespace {

/// The model is held to the real thing: what is expected is the same on every device.
TEST_P(Laboratory, SeesWhatIsExpected) {
  auto seen = observe(device(), GetParam().experiment);
  auto const cannot_be_told = [&] { return seen.verdict.late && !seen.verdict.as_expected; };
  for (int tries = 1; cannot_be_told() && tries < 3; ++tries) seen = observe(device(), GetParam().experiment);
  if (cannot_be_told()) GTEST_SKIP() << "it cannot be told here: " << seen.verdict.fact;
  std::string lines;
  for (auto const& line : draw(seen.intervals, 100)) lines += line + "\n";
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact << "\n" << lines;
  EXPECT_FALSE(seen.verdict.fact.empty());
}

}  // namespace
}  // namespace penstock::lab
