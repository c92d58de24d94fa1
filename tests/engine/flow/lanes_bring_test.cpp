// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/lanes_bring.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

/// Counts what lanes ask of it.
struct ProducersOfARun final : BringsTiles {
  bool bring(std::size_t) noexcept override {
    ++brought;
    return true;
  }
  void all_ended() override { ++ended; }
  unsigned brought = 0, ended = 0;
};

TEST(LanesThatBring, TellTheProducersOnceTheLastHasLeft) {
  LanesBring lanes(2);
  EXPECT_FALSE(lanes.ready());
  EXPECT_FALSE(lanes.bring(0)) << "there are no producers yet";
  ProducersOfARun producers;
  lanes.begin(producers);
  EXPECT_TRUE(lanes.ready());
  EXPECT_TRUE(lanes.bring(1));
  EXPECT_EQ(producers.brought, 1u);
  lanes.leave();
  EXPECT_EQ(producers.ended, 0u);
  lanes.leave();
  EXPECT_EQ(producers.ended, 1u);
  lanes.end();
}

TEST(LanesThatBring, AskNothingOfProducersThatAreGone) {
  LanesBring lanes(1);
  ProducersOfARun gone;
  lanes.begin(gone);
  lanes.end();
  EXPECT_FALSE(lanes.ready());
  EXPECT_FALSE(lanes.bring(0));
  lanes.leave();
  EXPECT_EQ(gone.brought + gone.ended, 0u);
  ProducersOfARun late;
  lanes.begin(late);
  EXPECT_EQ(late.ended, 1u) << "no lane is left";
  lanes.end();
}

}  // namespace
}  // namespace penstock
