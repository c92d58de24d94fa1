// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lane_streams.hpp"

#include <chrono>
#include <vector>

#include "support/gate.hpp"
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock {
namespace {

/// A lane's streams: three to upload its inputs, one to compute, one to download.
struct StreamsOfALane : testing::Test {
  static constexpr FlightOptions of_its_own{.streams = StreamMode::own, .shape = LaneShape::split};
  cpu::CpuDevice device{{.compute_threads = 1}};

  static std::vector<StreamRef> all(LaneStreams const& of) {
    return {of.upload(), of.more_upload(0), of.more_upload(1), of.compute(), of.download()};
  }
};

TEST_F(StreamsOfALane, AreNotIdleWhileOneOfThemIsBusy) {
  FlightOptions impatient = of_its_own;
  impatient.patience = std::chrono::milliseconds(2);
  LaneStreams streams(device, impatient, 2);
  for (StreamRef const stream : all(streams)) {
    support::Gate gate;
    stream.launch(1, [&](std::uint32_t) { gate.pass(); });
    EXPECT_FALSE(streams.wait_idle());
    gate.open();
    stream.synchronize();
  }
}

}  // namespace
}  // namespace penstock
