// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lane.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock {
namespace {

/// A CPU device that expects each thread to attach it before all else.
class ExpectsToBeAttached final : public cpu::CpuDevice {
 public:
  using CpuDevice::CpuDevice;
  void attach() override {
    CpuDevice::attach();
    std::scoped_lock const lock(mutex_);
    threads_.insert(std::this_thread::get_id());
  }
  /// A thread that begins later may have the identity of one that has ended.
  void forget() {
    std::scoped_lock const lock(mutex_);
    threads_.clear();
  }
  Stream make_stream(StreamOptions options) override {
    expect_attached();
    return CpuDevice::make_stream(options);
  }
  Event make_event(EventOptions options) override {
    expect_attached();
    return CpuDevice::make_event(options);
  }
  DeviceMemory allocate(std::size_t bytes) override {
    expect_attached();
    return CpuDevice::allocate(bytes);
  }
  void expect_attached() {
    std::scoped_lock const lock(mutex_);
    EXPECT_TRUE(threads_.contains(std::this_thread::get_id()));
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> threads_;
};

/// One tile, and a device that a lane is to attach. The tile comes home.
struct ALaneWithOneTile : testing::Test {
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};
  alignas(256) std::array<std::byte, 256> slab{};
  Pool pool{slab, shape, 1};
  ExpectsToBeAttached device{{.compute_threads = 1}};
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u) << "it never came home"; }

  LaneSummary run(Stages const& stages, LaneOptions const& options = {}) {
    Lane lane(device, shape, 1, options, 0, stages, [](Completion const& tile) { EXPECT_TRUE(tile.ok()); });
    Loan loan = pool.borrow();
    EXPECT_TRUE(lane.submit(loan));
    lane.close();
    return lane.summary();
  }
};

TEST_F(ALaneWithOneTile, AttachesItsDeviceBeforeAllElse) {
  struct Attached final : Stage {
    explicit Attached(ExpectsToBeAttached& by) : device(by) { device.expect_attached(); }
    std::size_t run(DeviceTile const&, StreamRef) override {
      device.expect_attached();
      return 0;
    }
    ExpectsToBeAttached& device;
  };
  Stages const stages{.make = [&](StageContext const&) { return std::make_unique<Attached>(device); }, .merge = {}};
  for (StreamMode const streams : {StreamMode::own, StreamMode::thread_default}) {
    device.forget();
    run(stages, {.flight = {.streams = streams}});
  }
}

TEST_F(ALaneWithOneTile, SaysHowLongItServed) {
  std::chrono::nanoseconds in_stage{};
  auto const before = Clock::now();
  auto const did = run(on_device([&](DeviceTile const&, StreamRef) {
    for (auto const begun = Clock::now(); in_stage.count() == 0;) in_stage = Clock::now() - begun;
    return std::size_t{0};
  }));
  EXPECT_GE(did.served, in_stage);
  EXPECT_LE(did.served, Clock::now() - before);
}

}  // namespace
}  // namespace penstock
