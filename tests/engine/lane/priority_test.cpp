// SPDX-License-Identifier: Apache-2.0
// Tests whose kernel runs first when a device cannot run both.
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "support/kernels.hpp"
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/lane.hpp"

namespace penstock {
namespace {

/// A device with one compute thread, and two lanes whose streams differ in priority. All tiles come home.
struct TwoLanesOfDifferentPriority : testing::TestWithParam<LaneShape> {
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};
  alignas(256) std::array<std::byte, 2 * 256> slab{};
  Pool pool{slab, shape, 2};
  cpu::CpuDevice device{{.compute_threads = 1}};
  std::mutex mutex;
  std::vector<int> order;
  std::atomic<int> launched{0};
  DeviceMemory elsewhere = device.allocate(256);

  std::unique_ptr<Lane> lane(int priority) {
    return std::make_unique<Lane>(
        device, shape, 2,
        LaneOptions{.flight = {.streams = StreamMode::own, .shape = GetParam(), .priority = priority}}, 0,
        on_device([this, priority](DeviceTile const&, StreamRef stream) {
          stream.launch(1, [this, priority](std::uint32_t) {
            std::scoped_lock const lock(mutex);
            order.push_back(priority);
          });
          ++launched;
          return std::size_t{0};
        }),
        [](Completion) {});
  }
  /// Blocks: until all uploads that were asked for are over, since one thread does them, the least urgent last. Then
  /// only the compute thread stands between the kernels behind them and their turn.
  void await_uploads() {
    Stream const least = device.make_stream({.priority = device.info().least_priority});
    least.upload(elsewhere.bytes(), std::span(slab).first(elsewhere.bytes().size()));
    least.synchronize();
  }

  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home"; }
};

TEST_P(TwoLanesOfDifferentPriority, TheMoreUrgentGoesFirstThoughItCameLast) {
  int const urgent = device.info().greatest_priority;
  int const patient = device.info().least_priority;
  ASSERT_LT(urgent, patient);
  auto const late = lane(urgent);
  auto const early = lane(patient);
  Stream const other = device.make_stream({.priority = urgent});
  support::Hold hold = support::CpuKernels().hold(other);
  hold.await_reached();
  int expected = 0;
  for (Lane* const each : {early.get(), late.get()}) {
    Loan loan = pool.borrow();
    ASSERT_TRUE(each->submit(loan));
    ++expected;
    while (launched != expected) std::this_thread::yield();
  }
  await_uploads();
  hold.open();
  early->close();
  late->close();
  EXPECT_EQ(order, (std::vector<int>{urgent, patient}));
}

INSTANTIATE_TEST_SUITE_P(Each, TwoLanesOfDifferentPriority, testing::Values(LaneShape::split, LaneShape::single),
                         [](auto const& lane) { return lane.param == LaneShape::split ? "split" : "single"; });

}  // namespace
}  // namespace penstock
