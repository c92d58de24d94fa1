// SPDX-License-Identifier: Apache-2.0
#include "support/gpu_under_test.hpp"

#include "support/cuda_kernels.hpp"

#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"

namespace penstock::support {

DeviceUnderTest gpu_under_test() {
  auto const kernels = std::make_shared<CudaKernels>();
  return {
      .name = "Gpu",
      .make = []() -> std::unique_ptr<Device> {
        let_many_streams_run_at_once();
        if (!cuda::probe().usable()) return nullptr;
        return std::make_unique<cuda::CudaDevice>();
      },
      .make_second = []() -> std::unique_ptr<Device> {
        if (cuda::device_count() < 2) return nullptr;
        return std::make_unique<cuda::CudaDevice>(1);
      },
      .kernels = kernels,
      .launch_in_vain = [](Device&, StreamRef stream) { launch_too_large(static_cast<cudaStream_t>(stream.native())); },
      .expect_nothing_lent =
          [kernels](Device& device) {
            kernels->give_back();
            EXPECT_FALSE(device.lost());
            EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "a refusal was left for somebody else to find";
          }};
}

}  // namespace penstock::support
