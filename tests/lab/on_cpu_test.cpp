// SPDX-License-Identifier: Apache-2.0
#include "lab/on_device.hpp"

#include "penstock/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

std::unique_ptr<Device> cpu_device() {
  return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compute_threads = kernels_at_once});
}

INSTANTIATE_TEST_SUITE_P(, Laboratory, testing::ValuesIn(all_experiments_on("Cpu", cpu_device)), name_of);

}  // namespace
}  // namespace penstock::lab
