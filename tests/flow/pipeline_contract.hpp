// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/device_contract.hpp"

#include "penstock/flow/pipeline.hpp"

namespace penstock {

/// What a sink saw.
struct Sunk {
  std::uint64_t sequence = 0;
  Outcome outcome = Outcome::done;
  std::string stage;
  bool content_right = false;
};

/// A source of `count` tiles, each filled with the low byte of its sequence; several producers fill at once.
class CountingSource : public Source {
 public:
  explicit CountingSource(std::uint64_t count) : count_(count) {}
  bool next(Tile&) override { return given_++ < count_; }
  std::size_t fill(Tile& tile) override;

 private:
  std::uint64_t const count_;
  std::uint64_t given_ = 0;
};

/// One device and a pipeline of eight tiles worked on in place. Each test ends with every tile home.
class PipelineContract : public testing::TestWithParam<DeviceUnderTest> {
 protected:
  static constexpr std::size_t tile_bytes = 4096;

  void SetUp() override;
  void TearDown() override;

  Device& device() { return *device_; }
  support::Kernels const& kernels() const { return *GetParam().kernels; }
  /// Eight tiles, two producers, two lanes of two slots, and what `options` says otherwise.
  static PipelineOptions usual() {
    return {.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true},
            .tiles = 8,
            .producers = 2,
            .lanes = 2,
            .consumers = 2,
            .slots = 2};
  }
  Pipeline& open(PipelineOptions options = usual());
  Pipeline& pipeline() { return *pipeline_; }
  /// Adds one to each byte and calls `also` before.
  Stages add_one(std::function<void(DeviceTile const&, StreamRef)> also = {});
  /// Notes each completion, and calls `also` after.
  Sink note(std::function<void(Completion&)> also = {});
  /// In the order in which the sink saw them.
  std::vector<Sunk> sunk();
  /// Every sequence from 0 to count - 1 came once.
  void expect_each_once(std::uint64_t count);

 private:
  std::unique_ptr<Device> device_;
  std::optional<Pipeline> pipeline_;
  std::mutex mutex_;
  std::vector<Sunk> sunk_;
};

}  // namespace penstock
