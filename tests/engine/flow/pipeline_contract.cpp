// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/pipeline_contract.hpp"

#include <algorithm>
#include <sstream>

#include "engine/core/pool.hpp"

namespace penstock {

std::size_t CountingSource::fill(Tile& tile) {
  std::ranges::fill(tile.input(), static_cast<std::byte>(tile.sequence));
  return tile.input().size();
}

void PipelineWorld::SetUp() {
  device_ = under_test().make();
  if (device_ == nullptr) GTEST_SKIP() << "There is no such device here.";
}

void PipelineWorld::TearDown() {
  if (device_ == nullptr) return;
  if (pipeline_) {
    EXPECT_EQ(pipeline_->pool().on_loan(), 0u) << "a tile never came home";
  }
  pipeline_.reset();
  under_test().expect_nothing_lent(*device_);
}

Pipeline& PipelineWorld::open(PipelineOptions options) {
  return pipeline_.emplace(*device_, std::move(options));
}

Stages PipelineWorld::add_one(std::function<void(DeviceTile const&, StreamRef)> also) {
  return on_device(
      [this, also = std::move(also)](DeviceTile const& tile, StreamRef stream) {
        if (also) also(tile, stream);
        kernels().add_one(stream, tile.input);
        return tile.input.size();
      },
      {.reads_once = true});
}

Sink PipelineWorld::note(std::function<void(Completion&)> also) {
  return [this, also = std::move(also)](Completion& completion) {
    Tile const& tile = *completion.loan;
    Sunk now{tile.sequence, completion.outcome, completion.failure ? completion.failure->stage : "", true};
    if (completion.ok()) now.content_right = tile.produced == tile.filled;
    auto const expected = static_cast<std::byte>(tile.sequence + 1);
    for (std::byte const byte : tile.produced_output()) now.content_right = now.content_right && byte == expected;
    {
      std::scoped_lock const lock(mutex_);
      sunk_.push_back(std::move(now));
    }
    if (also) also(completion);
  };
}

std::vector<Sunk> PipelineWorld::sunk() {
  std::scoped_lock const lock(mutex_);
  return sunk_;
}

void PipelineWorld::expect_each_once(std::uint64_t count) {
  auto all = sunk();
  std::ranges::sort(all, {}, &Sunk::sequence);
  ASSERT_EQ(all.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(all[i].sequence, i);
}

std::vector<PipelineUnderTest> every_pipeline_on(DeviceUnderTest const& device) {
  std::vector<PipelineUnderTest> pipelines;
  for (SignalKind const signal : all_signal_kinds) {
    for (LaneShape const shape : all_lane_shapes) pipelines.push_back({device, signal, shape});
  }
  return pipelines;
}

void PrintTo(PipelineUnderTest const& pipeline, std::ostream* out) {
  if (pipeline.run_to_completion) {
    *out << "run_to_completion";
    return;
  }
  *out << to_string(pipeline.signal) << '_' << to_string(pipeline.shape);
}

std::string name_of_pipeline(testing::TestParamInfo<PipelineUnderTest> const& info) {
  std::ostringstream name;
  PrintTo(info.param, &name);
  return name.str();
}

void PipelineBySignal::TearDown() {
  PipelineWorld::TearDown();
  EXPECT_EQ(sunk().size(), handed_in) << "not every tile had its one completion";
}

PipelineOptions PipelineBySignal::usual() {
  PipelineOptions options = PipelineWorld::usual();
  options.tuning.signal = GetParam().signal;
  options.tuning.shape = GetParam().shape;
  if (!GetParam().run_to_completion) return options;
  options.tuning.run_to_completion = true;
  options.producers = options.tuning.slots = 0;
  return options;
}

void PipelineBySignal::hand_in(std::uint64_t count) {
  Feed feed = pipeline().feed();
  for (std::uint64_t sequence = 0; sequence < count; ++sequence) {
    Loan loan = feed.borrow();
    loan->filled = tile_bytes;
    std::ranges::fill(loan->input(), static_cast<std::byte>(sequence));
    feed.submit(std::move(loan));
    ++handed_in;
  }
}

std::uint64_t PipelineBySignal::expect_done_or_cancelled(std::size_t before, std::uint64_t count) {
  auto const all = sunk();
  EXPECT_EQ(all.size(), before + count);
  std::vector<int> times(count, 0);
  std::uint64_t done = 0;
  for (std::size_t i = before; i < all.size(); ++i) {
    EXPECT_NE(all[i].outcome, Outcome::failed) << all[i].stage;
    if (all[i].sequence < count) ++times[all[i].sequence];
    if (all[i].outcome != Outcome::done) continue;
    EXPECT_TRUE(all[i].content_right) << "tile " << all[i].sequence;
    ++done;
  }
  EXPECT_EQ(times, std::vector<int>(count, 1));
  return done;
}

}  // namespace penstock
