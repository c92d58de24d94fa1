// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/ceilings.hpp"

#include <array>
#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock::measure {
namespace {

using std::chrono::milliseconds;

/// Two CPU devices that count what their engines do.
struct CeilingsOfTwoDevices : testing::Test {
  struct Counts {
    std::atomic<unsigned> upload{0}, download{0}, compute{0};
  };
  static cpu::CpuOptions counting(int ordinal, Counts& counts) {
    return {.ordinal = ordinal, .compute_threads = 1, .observer = [&counts](cpu::Executed const& one) {
              if (one.engine == cpu::Engine::upload) ++counts.upload;
              if (one.engine == cpu::Engine::download) ++counts.download;
              if (one.engine == cpu::Engine::compute) ++counts.compute;
            }};
  }
  std::array<Counts, 2> counts;
  cpu::CpuDevice first{counting(0, counts[0])}, second{counting(1, counts[1])};
  DeviceGroup devices{std::vector<Device*>{&first, &second}};
};

TEST_F(CeilingsOfTwoDevices, AreMeasuredOnBoth) {
  Setting setting;
  setting.tile = 4096;
  Ceilings const ceilings = measure_ceilings(devices, setting, 1, milliseconds(5), {}).ceilings;
  ASSERT_TRUE(ceilings.upload && ceilings.download && ceilings.both && ceilings.kernel);
  for (Counts const& one : counts) {
    EXPECT_GT(one.upload, 0u);
    EXPECT_GT(one.download, 0u);
    EXPECT_GT(one.compute, 0u);
  }
}

TEST_F(CeilingsOfTwoDevices, HaveTheLinksOfBoth) {
  Ceilings const link = measure_link(devices, Direction::in, milliseconds(5), {}).ceilings;
  EXPECT_TRUE(link.link_up);
  EXPECT_FALSE(link.link_down);
  for (Counts const& one : counts) EXPECT_GT(one.upload, 0u);
}

}  // namespace
}  // namespace penstock::measure
