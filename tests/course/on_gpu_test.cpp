// SPDX-License-Identifier: Apache-2.0
#include "support/cuda_kernels.hpp"

#include "course/on_device.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"

namespace penstock::lab {
namespace {

std::unique_ptr<Device> first_gpu() {
  if (!support::CudaKernels().run_beside_each_other()) return nullptr;
  support::let_many_streams_run_at_once();
  if (!cuda::probe().usable()) return nullptr;
  return std::make_unique<cuda::CudaDevice>();
}

INSTANTIATE_TEST_SUITE_P(, Laboratory, testing::ValuesIn(all_experiments_on("Gpu", first_gpu)), name_of);

}  // namespace
}  // namespace penstock::lab
