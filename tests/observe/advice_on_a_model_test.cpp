// SPDX-License-Identifier: Apache-2.0
// A pipeline on a modelled GPU for each bound that an option moves, and what following its advice gains. Seen to fail
// with advice that promises half of this, but for the one that may gain more.
#include <chrono>
#include <memory>
#include <string>

#include "engine/core/too_slow.hpp"
#include "models/modelled_time.hpp"
#include "observe/followed_advice.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;
using Microseconds = cpu::DeviceModel::Time;

/// A GPU that runs ten kernels of one block at once. Parts take 100 us and more: so long that threads of a busy host
/// are in time on a clock that is slower.
struct AFollowedModel : AFollowedPipeline {
  AFollowedModel() {
    cpu::slow_clock(20);
    model.name = "a GPU of the tests";
    model.link = {.up = 10, .down = 10, .both = 10, .mapped = 10, .pageable = 1};
    model.kernels = {.units = 10, .threads_per_unit = 128, .memory = 100, .tera_flops = 1};
    kernel = 20us;
  }
  std::unique_ptr<cpu::CpuDevice> device() const override {
    return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compute_threads = 2, .time = cpu::modelled_time(model)});
  }
  void compute(StreamRef stream) const override {
    stream.launch(1, [](std::uint32_t) {}, {.time = kernel, .blocks = 1});
  }
  std::string disturbed(Report const& report) const override { return too_slow_in(report.remarks); }

  cpu::DeviceModel model;
};

TEST_F(AFollowedModel, GainsByASecondProducerWhereTheOnlyOneFills) {
  options.producers = 1;
  fill = 400us;
  expect_advice_to_hold(Bound::fill, "--producers 2");
}

TEST_F(AFollowedModel, GainsByASecondCallOfASlowSink) {
  sink = 400us;
  expect_advice_to_hold(Bound::sink, "--consumers 2");
}

TEST_F(AFollowedModel, GainsByLargerBatchesWhereCallsAreSlow) {
  model.calls.copy = model.calls.launch = Microseconds(100);
  tiles = 256;
  expect_advice_to_hold(Bound::submission, "--batch ");
}

TEST_F(AFollowedModel, GainsByASecondSlotWhereStepsAlternate) {
  options.tuning.slots = 1;
  kernel = 200us;
  model.link.copy = Microseconds(200);
  expect_advice_to_hold(Bound::too_few_tiles, "--slots 2");
}

TEST_F(AFollowedModel, GainsByMoreTilesWherePartsAlternate) {
  options.tuning.tiles = 2;
  options.producers = 1;
  fill = kernel = sink = 200us;
  expect_advice_to_hold(Bound::too_few_tiles, "--tiles ");
}

/// Twice as many slots, or polling, which promise about the same. No figure tells how little else a tile waits for.
TEST_F(AFollowedModel, GainsByWhatIsPromisedAndMoreWhereTilesWaitToBeNoticed) {
  options.producers = 1;
  options.tuning.slots = 2;
  set_bytes(1024 * kibibyte);  // So large that larger batches are of no use.
  model.link.up = model.link.down = model.link.both = 100;
  model.calls.copy = model.calls.launch = Microseconds(10);
  model.completions.noticed = model.completions.called = Microseconds(200);
  expect_advice_to_hold(Bound::completion, "--s", Promise::met_or_exceeded);
}

/// A copy of 64 KiB takes 100 us before its bytes move, and 66 us then.
struct AModelWithSmallCopies : AFollowedModel {
  static constexpr std::size_t bytes = 64 * kibibyte;
  AModelWithSmallCopies() {
    model.link.up = model.link.down = model.link.both = 1;
    model.link.copy = Microseconds(100);
    alone.link_up = alone.link_down = 1e9;
    alone.upload = alone.download = 1 / (100e-6 + bytes / 1e9);
    kernel = 1us;
    tiles = 256;
  }
};

TEST_F(AModelWithSmallCopies, GainsByLargerBatchesOfUploads) {
  options.tile = {.input_bytes = bytes, .output_bytes = 0};
  expect_advice_to_hold(Bound::upload, "--batch ");
}

TEST_F(AModelWithSmallCopies, GainsByLargerBatchesOfDownloads) {
  options.tile = {.input_bytes = 0, .output_bytes = bytes};
  expect_advice_to_hold(Bound::download, "--batch ");
}

TEST_F(AFollowedModel, GainsByMoreLanesWhereKernelsLeaveRoom) {
  options.lanes = 2;
  kernel = 400us;
  alone.kernel = 10 / 400e-6;
  expect_advice_to_hold(Bound::kernel, "--lanes 4");
}

TEST_F(AFollowedModel, GainsByASecondLaneWhereTheOnlyOneRunsKernelsOneByOne) {
  kernel = 400us;
  alone.kernel = 10 / 400e-6;
  expect_advice_to_hold(Bound::serialising_stream, "--lanes 2");
}

TEST_F(AFollowedModel, GainsByStreamsForEachStepWhereOneDoesAll) {
  options.tuning.shape = LaneShape::single;
  kernel = 200us;
  model.link.copy = Microseconds(200);
  expect_advice_to_hold(Bound::serialising_stream, "--shape split");
}

}  // namespace
}  // namespace penstock
