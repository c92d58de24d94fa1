// SPDX-License-Identifier: Apache-2.0
#include "graph/lanes_in_graph_contract.hpp"
#include "support/cpu_device_under_test.hpp"

#include "penstock/cpu/cpu_device.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, LanesInGraphContract,
                         testing::Values(support::cpu_device_under_test(),
                                         support::cpu_device_under_test(Flavour::legacy)),
                         name_of);

}  // namespace
}  // namespace penstock
