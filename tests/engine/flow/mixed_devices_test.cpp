// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using support::SaysItIsAGpu;

/// A pipeline on GPUs and a CPU device.
struct MixedDevices : testing::Test {
  cpu::CpuDevice cpu{{.compute_threads = 1}};
  SaysItIsAGpu gpu, second_gpu, third_gpu;
  std::optional<Pipeline> pipeline{
      std::in_place, std::vector<Device*>{&cpu, &gpu, &second_gpu, &third_gpu},
      PipelineOptions{.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true}, .tuning = {.tiles = 2}}};
};

TEST_F(MixedDevices, PinTheTilesOnceForAllGpusAndOnceForTheCpu) {
  EXPECT_EQ(cpu.outstanding().pins, 1u);
  EXPECT_EQ(gpu.pins(), 1u);
  EXPECT_EQ(second_gpu.pins() + third_gpu.pins(), 0u);
  pipeline.reset();
  EXPECT_EQ(cpu.outstanding().pins, 0u);
  EXPECT_EQ(gpu.pins(), 0u);
}

TEST_F(MixedDevices, LeaveTheirPinsToAGpuThatWasAbandonedWhicheverPinned) {
  second_gpu.abandon(Error(ErrorKind::device_lost, "It was given up."));
  pipeline.reset();
  EXPECT_EQ(gpu.pins(), 1u) << "to unpin would wait for all GPUs";
  EXPECT_EQ(cpu.outstanding().pins, 0u);
}

TEST_F(MixedDevices, LeaveTheirPinsToGpusThatWereAbandonedThoughTheOneThatPinnedServesOn) {
  Error const why(ErrorKind::device_lost, "It was given up.");
  for (auto* const abandoned : {&second_gpu, &third_gpu}) abandoned->abandon(why);
  pipeline.reset();
  EXPECT_EQ(gpu.pins(), 1u);
}

TEST_F(MixedDevices, UnpinForGpusThoughTheCpuDeviceWasAbandoned) {
  cpu.abandon(Error(ErrorKind::device_lost, "It was given up."));
  pipeline.reset();
  EXPECT_EQ(gpu.pins(), 0u) << "it may die before the CPU device";
}

TEST_F(MixedDevices, PinNothingIfAStopIsRequestedBeforeTheTilesAreTouched) {
  PipelineOptions const options = pipeline->options();
  pipeline.reset();
  std::stop_source stop;
  stop.request_stop();
  try {
    pipeline.emplace(std::vector<Device*>{&cpu, &gpu}, options, stop.get_token());
    ADD_FAILURE() << "it was made";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::system);
  }
  EXPECT_EQ(cpu.outstanding().pins, 0u);
  EXPECT_EQ(gpu.pins(), 0u);
}

}  // namespace
}  // namespace penstock
