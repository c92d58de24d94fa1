// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/device_contract.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

/// A tile as a sink saw it.
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
class PipelineWorld : public testing::Test {
 protected:
  static constexpr std::size_t tile_bytes = 4096;

  void SetUp() override;
  void TearDown() override;

  virtual DeviceUnderTest const& under_test() const = 0;
  Device& device() { return *device_; }
  support::Kernels const& kernels() const { return *under_test().kernels; }
  /// Eight tiles, two producers, two lanes of two slots, and what `options` says otherwise.
  static PipelineOptions usual() {
    return {.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes, .in_place = true},
            .producers = 2,
            .lanes = 2,
            .consumers = 2,
            .tuning = {.tiles = 8, .slots = 2}};
  }
  Pipeline& open(PipelineOptions options = usual());
  Pipeline& pipeline() { return *pipeline_; }
  /// Destroys the pipeline as it is.
  void destroy_pipeline() { pipeline_.reset(); }
  /// Adds one to each byte and calls `also` before.
  Stages add_one(std::function<void(DeviceTile const&, StreamRef)> also = {});
  /// Notes each completion, and calls `also` after.
  Sink note(std::function<void(Completion&)> also = {});
  /// Returns what the sink saw, in that order.
  std::vector<Sunk> sunk();
  /// Expects every sequence from 0 to count - 1 once.
  void expect_each_once(std::uint64_t count);

 private:
  std::unique_ptr<Device> device_;
  std::optional<Pipeline> pipeline_;
  std::mutex mutex_;
  std::vector<Sunk> sunk_;
};

/// Promises that are held to on each device.
class PipelineContract : public PipelineWorld, public testing::WithParamInterface<DeviceUnderTest> {
 protected:
  DeviceUnderTest const& under_test() const override { return GetParam(); }
};

/// A pipeline whose lanes hear of their device by this signal, and have streams of that shape.
struct PipelineUnderTest {
  DeviceUnderTest device;
  SignalKind signal = SignalKind::callback;
  LaneShape shape = LaneShape::split;
  bool run_to_completion = false;
};

/// Every signal with every shape.
std::vector<PipelineUnderTest> every_pipeline_on(DeviceUnderTest const& device);
/// "callback_split", "run_to_completion".
std::string name_of_pipeline(testing::TestParamInfo<PipelineUnderTest> const& info);
void PrintTo(PipelineUnderTest const& pipeline, std::ostream* out);

/// Promises that are held to by each signal in each shape, too. Each test ends with one completion for every tile that
/// it handed in.
class PipelineBySignal : public PipelineWorld, public testing::WithParamInterface<PipelineUnderTest> {
 protected:
  void TearDown() override;

  DeviceUnderTest const& under_test() const override { return GetParam().device; }
  /// Options with the parameter's signal and shape.
  static PipelineOptions usual();
  Pipeline& open() { return PipelineWorld::open(usual()); }
  /// Fills the first tiles of a run that was started with what belongs to them, and submits them.
  void hand_in(std::uint64_t count);
  /// Expects the completions behind the first `before` to be of a run of `count` tiles: each from 0 on once, done with
  /// its own content or cancelled. Returns how many were done.
  std::uint64_t expect_done_or_cancelled(std::size_t before, std::uint64_t count);

  std::uint64_t handed_in = 0;  ///< Tiles in all; a test that pulls adds what its source filled.
};

}  // namespace penstock
