// SPDX-License-Identifier: Apache-2.0
#include "support/cpu_device_under_test.hpp"

#include "penstock/cpu/cpu_device.hpp"

namespace penstock::support {

DeviceUnderTest cpu_device_under_test(Flavour flavour) {
  return {
      .name = flavour == Flavour::legacy ? "CpuLegacy" : "Cpu",
      // One compute thread more than the contract asks for: the main thread's work goes on beside all holds.
      .make =
          [flavour] {
            return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compute_threads = 10, .flavour = flavour});
          },
      .kernels = std::make_shared<CpuKernels>(),
      .launch_in_vain =
          [](Device& device, StreamRef stream) {
            dynamic_cast<cpu::CpuDevice&>(device).inject(cpu::Fault::drop_launch);
            stream.launch(1, [](std::uint32_t) { ADD_FAILURE() << "a refused kernel ran"; });
          },
      .expect_nothing_lent =
          [](Device& device) { EXPECT_EQ(dynamic_cast<cpu::CpuDevice&>(device).outstanding(), cpu::Outstanding{}); }};
}

}  // namespace penstock::support
