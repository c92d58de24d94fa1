// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/cpu_device.hpp"
#include "kernels/kernels_on_device.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, KernelsOn,
                         testing::Values(DeviceToComputeOn{"Cpu", [] { return std::make_unique<cpu::CpuDevice>(); }}),
                         [](auto const& test) { return test.param.name; });

}  // namespace
}  // namespace penstock
