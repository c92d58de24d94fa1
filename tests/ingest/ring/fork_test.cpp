// SPDX-License-Identifier: Apache-2.0
// A child of fork shares the memory of the parent's rings, whichever side of them the parent is.
#include <filesystem>

#include "support/child_of_fork.hpp"

#include "ingest/ring/a_ring_of_three.hpp"

namespace penstock {
namespace {

using support::ARingOfThree;

/// Seen to fail where the child removed the link, and closed the ring for the writers.
TEST_F(ARingOfThree, StaysOpenAfterAChildOfForkHasEnded) {
  std::string const link = testing::TempDir() + "penstock-ring-" + std::to_string(getpid());
  made_ring = std::make_unique<SharedRing>(link, shape);
  source();
  EXPECT_EQ(support::exit_code_of_child_that_destroys(*made, *made_ring), 7);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  auto const one = writer();
  send(*one, "a");
  EXPECT_EQ(text(), "a");
}

/// Seen to fail where the child gave up the writer's place, which another writer then took.
TEST_F(ARingOfThree, KeepsItsWriterAfterAChildOfForkHasEnded) {
  auto const one = writer();
  one->claim();
  EXPECT_EQ(support::exit_code_of_child_that_destroys(*one), 7);
  EXPECT_THROW(writer(), Error) << "there is one place";
  one->commit(1);
  send(*one, "b");
  EXPECT_EQ(text().size(), 1U);
  EXPECT_EQ(text(), "b");
}

}  // namespace
}  // namespace penstock
