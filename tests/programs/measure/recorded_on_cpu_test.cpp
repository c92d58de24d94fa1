// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "programs/measure/recorded_kernels.hpp"

namespace penstock::measure {
namespace {

TEST(Recording, OfTheCpuDeviceAgreesWithItsKernels) {
  cpu::CpuDevice device{{.compute_threads = 4}};
  for (LaneShape const shape : {LaneShape::split, LaneShape::single}) {
    for (std::uint64_t const every : {1U, 4U}) expect_recorded_as_noted(device, shape, every);
  }
}

}  // namespace
}  // namespace penstock::measure
