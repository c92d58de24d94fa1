// SPDX-License-Identifier: Apache-2.0
#include "lane/lane_contract.hpp"
#include "support/gpu_under_test.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, LaneContract, testing::ValuesIn(every_lane_on(support::gpu_under_test())), name_of_lane);

}  // namespace
}  // namespace penstock
