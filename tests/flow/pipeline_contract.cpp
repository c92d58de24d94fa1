// SPDX-License-Identifier: Apache-2.0
#include "flow/pipeline_contract.hpp"

#include <algorithm>

namespace penstock {

std::size_t CountingSource::fill(Tile& tile) {
  std::ranges::fill(tile.input(), static_cast<std::byte>(tile.sequence));
  return tile.input().size();
}

void PipelineContract::SetUp() {
  device_ = GetParam().make();
  if (device_ == nullptr) GTEST_SKIP() << "There is no such device here.";
}

void PipelineContract::TearDown() {
  if (device_ == nullptr) return;
  if (pipeline_) {
    EXPECT_EQ(pipeline_->pool().on_loan(), 0u) << "a tile never came home";
  }
  pipeline_.reset();
  GetParam().expect_nothing_lent(*device_);
}

Pipeline& PipelineContract::open(PipelineOptions options) {
  return pipeline_.emplace(*device_, std::move(options));
}

Stages PipelineContract::add_one(std::function<void(DeviceTile const&, StreamRef)> also) {
  return each_tile([this, also = std::move(also)](DeviceTile const& tile, StreamRef stream) {
    if (also) also(tile, stream);
    kernels().add_one(stream, tile.input);
    return tile.input.size();
  });
}

Sink PipelineContract::note(std::function<void(Completion&)> also) {
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

std::vector<Sunk> PipelineContract::sunk() {
  std::scoped_lock const lock(mutex_);
  return sunk_;
}

void PipelineContract::expect_each_once(std::uint64_t count) {
  auto all = sunk();
  std::ranges::sort(all, {}, &Sunk::sequence);
  ASSERT_EQ(all.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(all[i].sequence, i);
}

}  // namespace penstock
