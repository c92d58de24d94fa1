// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/cpu/cpu_device.hpp"
#include "penstock/flow/pipeline.hpp"

namespace penstock {
namespace {

/// A CPU device that says it is a GPU, and counts what it has pinned.
class SaysItIsAGpu final : public Device {
 public:
  DeviceInfo info() const override {
    DeviceInfo info = cpu_.info();
    info.kind = DeviceKind::cuda;
    return info;
  }
  void attach() override { cpu_.attach(); }
  Flavour flavour() const noexcept override { return cpu_.flavour(); }
  StreamRef per_thread_default_stream() override { return cpu_.per_thread_default_stream(); }
  StreamRef legacy_default_stream() override { return cpu_.legacy_default_stream(); }
  Stream make_stream(StreamOptions options) override { return cpu_.make_stream(options); }
  Event make_event(EventOptions options) override { return cpu_.make_event(options); }
  Flag make_flag() override { return cpu_.make_flag(); }
  DeviceMemory allocate(std::size_t bytes) override { return cpu_.allocate(bytes); }
  Pinned pin(std::span<std::byte> host) override { return cpu_.pin(host); }
  std::optional<std::span<std::byte>> mapped(std::span<std::byte> host) override { return cpu_.mapped(host); }
  void synchronize() override { cpu_.synchronize(); }
  std::optional<Error> take_refusal() override { return cpu_.take_refusal(); }
  std::optional<Error> lost() override { return cpu_.lost(); }
  void abandon(Error const& why) override { cpu_.abandon(why); }
  bool abandoned() const noexcept override { return cpu_.abandoned(); }
  void keep(std::shared_ptr<void> thing) override { cpu_.keep(std::move(thing)); }
  std::size_t pins() const { return cpu_.outstanding().pins; }

 private:
  cpu::CpuDevice cpu_{{.compute_threads = 1}};
};

/// A pipeline on GPUs and a CPU device.
struct MixedDevices : testing::Test {
  cpu::CpuDevice cpu{{.compute_threads = 1}};
  SaysItIsAGpu gpu, second_gpu, third_gpu;
  std::optional<Pipeline> pipeline{
      std::in_place, std::vector<Device*>{&cpu, &gpu, &second_gpu, &third_gpu},
      PipelineOptions{.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true}, .tiles = 2}};
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

}  // namespace
}  // namespace penstock
