// SPDX-License-Identifier: Apache-2.0
#include "lab/on_device.hpp"

#include "penstock/cpu/cpu_device.hpp"
#include "penstock/lab/experiments.hpp"

namespace penstock::lab {
namespace {

std::unique_ptr<Device> cpu_device() {
  return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compute_threads = kernels_at_once});
}

INSTANTIATE_TEST_SUITE_P(Cpu, Laboratory, testing::Values(LaboratoryDevice{"Cpu", cpu_device}),
                         [](auto const& test) { return test.param.name; });

}  // namespace
}  // namespace penstock::lab
