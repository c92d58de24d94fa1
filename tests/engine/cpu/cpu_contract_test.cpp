// SPDX-License-Identifier: Apache-2.0
#include "support/cpu_device_under_test.hpp"

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, DeviceContract,
                         testing::Values(support::cpu_device_under_test(),
                                         support::cpu_device_under_test(Flavour::legacy)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Model, DeviceContract, testing::Values(support::modelled_gpu_under_test()), name_of);

}  // namespace
}  // namespace penstock
