// SPDX-License-Identifier: Apache-2.0
#include "course/sources.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "course/experiment.hpp"

namespace penstock::lab {
namespace {

TEST(Sources, AreThereForEachExperiment) {
  for (Experiment const& experiment : all_experiments()) {
    EXPECT_FALSE(sources_of(experiment.name).empty()) << experiment.name << " has no line in experiments.txt";
  }
}

TEST(Sources, AreOnlyOfExperimentsThatExist) {
  auto const all = all_experiments();
  for (SourceRow const& row : source_rows()) {
    EXPECT_TRUE(std::ranges::any_of(all, [&](Experiment const& one) { return one.name == row.experiment; }))
        << "there is no experiment " << row.experiment;
  }
}

TEST(Sources, AreWholeFiles) {
  for (SourceRow const& row : source_rows()) {
    EXPECT_TRUE(row.file.text.starts_with("// SPDX-License-Identifier: Apache-2.0\n")) << row.file.path;
    EXPECT_TRUE(row.file.text.ends_with("}\n")) << row.file.path;
    EXPECT_TRUE(row.file.path.starts_with("examples/")) << row.file.path;
  }
}

TEST(Sources, OfNoExperimentAreNone) {
  EXPECT_TRUE(sources_of("no-such-experiment").empty());
}

}  // namespace
}  // namespace penstock::lab
