// SPDX-License-Identifier: Apache-2.0
// A run whose sink keeps every loan stands still, and says why.
#include "engine/flow/kept_tiles.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::mutex said_mutex;
std::vector<std::string> told;
std::stop_source* ends = nullptr;

/// Ends the run with the first message.
void hear(std::string_view sentence) noexcept {
  std::scoped_lock const lock(said_mutex);
  told.emplace_back(sentence);
  if (ends != nullptr) ends->request_stop();
}

/// Four tiles, which the sink keeps.
struct ASinkThatKeepsEveryLoan : testing::Test {
  ASinkThatKeepsEveryLoan() {
    told.clear();
    ends = &stop;
  }
  ~ASinkThatKeepsEveryLoan() override {
    set_message_hook(before);
    ends = nullptr;
  }
  static PipelineOptions usual() {
    return {.tile = {.input_bytes = 64},
            .producers = 2,
            .lanes = 1,
            .tuning = {.tiles = 4, .patience = std::chrono::milliseconds(40)}};
  }
  Sink keep() {
    return [this](Completion& completion) {
      std::scoped_lock const lock(mutex);
      kept.push_back(std::move(completion.loan));
    };
  }
  static Stages nothing() {
    return on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; });
  }
  static auto endless() {
    return serial([](Tile&) -> std::optional<std::size_t> { return 1; });
  }

  MessageHook const before = set_message_hook(hear);
  std::stop_source stop;
  cpu::CpuDevice device{{.compute_threads = 1}};
  std::mutex mutex;
  std::vector<Loan> kept;
};

/// Seen to hang if producers wait for a tile without a look at where they are.
TEST_F(ASinkThatKeepsEveryLoan, IsToldOnceTheProducersHaveWaitedForLong) {
  Pipeline pipeline(device, usual());
  Report const report = pipeline.run(endless(), nothing(), keep(), stop.get_token());
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(kept.size(), 4U);
  EXPECT_THAT(told, ElementsAre(HasSubstr("the sink keeps the loans of all 4 tiles")));
  kept.clear();
}

TEST_F(ASinkThatKeepsEveryLoan, IsToldByLanesThatBringTheirTiles) {
  PipelineOptions options = usual();
  options.producers = 0;
  options.lanes = 2;
  options.tuning.run_to_completion = options.tuning.sink_on_lanes = true;
  Pipeline pipeline(device, options);
  EXPECT_FALSE(pipeline.run(endless(), nothing(), keep(), stop.get_token()).ok());
  EXPECT_THAT(told, ElementsAre(HasSubstr("the sink keeps the loans")));
  kept.clear();
}

TEST_F(ASinkThatKeepsEveryLoan, IsToldByThreadsThatFeed) {
  Pipeline pipeline(device, usual());
  pipeline.start(nothing(), keep());
  while (auto loan = pipeline.feed().borrow(stop.get_token())) pipeline.feed().submit(std::move(*loan));
  EXPECT_THAT(told, ElementsAre(HasSubstr("the sink keeps the loans of all 4 tiles")));
  EXPECT_EQ(pipeline.drain().tiles_done, 4U);
  kept.clear();
}

/// Where a producer is counted that does not wait, the sink is blamed while that one fills a tile.
TEST(KeptTiles, CountsEachThreadThatWaitsAndNoOther) {
  alignas(256) std::array<std::byte, 256> slab{};
  Pool pool(slab, {.input_bytes = 256}, 1);
  Loan const lent = pool.borrow();
  KeptTiles kept(pool, std::chrono::milliseconds(8));
  for (int turn = 0; turn < 2; ++turn) {
    std::stop_source stop;
    std::size_t counted = 0;
    auto const count = [&](std::size_t waiting) {
      counted = waiting;
      stop.request_stop();
      return false;
    };
    EXPECT_FALSE(kept.wait(stop.get_token(), 0, count));
    EXPECT_EQ(counted, 1u);
  }
}

}  // namespace
}  // namespace penstock
