// SPDX-License-Identifier: Apache-2.0
#include "course/held_laboratory.hpp"
#include "course/on_device.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

std::unique_ptr<Device> cpu_device() {
  return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compute_threads = kernels_at_once});
}

std::unique_ptr<Device> cpu_device_to_hold() {
  // One more for what else shall have its turn.
  return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compute_threads = kernels_at_once + 1});
}

HeldDevice held_cpu_device() {
  return {
      .name = "Cpu",
      .make = cpu_device_to_hold,
      .make_kernels = [](StreamRef) { return std::make_unique<support::CpuHeldKernels>(); },
      .expect_nothing_lent =
          [](Device& device) { EXPECT_EQ(dynamic_cast<cpu::CpuDevice&>(device).outstanding(), cpu::Outstanding{}); }};
}

INSTANTIATE_TEST_SUITE_P(, HeldLaboratory, testing::Values(held_cpu_device()), name_of_device);
INSTANTIATE_TEST_SUITE_P(, Laboratory, testing::ValuesIn(all_experiments_on("Cpu", cpu_device)), name_of);

}  // namespace
}  // namespace penstock::lab
