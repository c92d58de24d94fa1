// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"
#include "kernels/kernels_on_device.hpp"

namespace penstock {
namespace {

std::unique_ptr<Device> first_gpu() {
  if (cuda::device_count() == 0) return nullptr;
  return std::make_unique<cuda::CudaDevice>(0);
}

INSTANTIATE_TEST_SUITE_P(Gpu, KernelsOn, testing::Values(DeviceToComputeOn{"Gpu", first_gpu}),
                         [](auto const& test) { return test.param.name; });

}  // namespace
}  // namespace penstock
