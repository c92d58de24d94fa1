// SPDX-License-Identifier: Apache-2.0
#include "support/gpu_under_test.hpp"

#include "engine/lane/batch_contract.hpp"
#include "engine/lane/graphs_contract.hpp"
#include "engine/lane/large_tiles_contract.hpp"
#include "engine/lane/many_tiles_contract.hpp"
#include "engine/lane/nap_contract.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, LaneContract, testing::ValuesIn(every_transport_on(support::gpu_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cuda, LaneOfBatches, testing::ValuesIn(every_transport_on(support::gpu_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cuda, LaneOfLargeTiles, testing::ValuesIn(every_transport_on(support::gpu_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cuda, LaneOfLargeBatches, testing::ValuesIn(one_lane_per_signal_on(support::gpu_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cuda, NappingLane, testing::ValuesIn(one_lane_per_signal_on(support::gpu_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cuda, LaneOfGraphs, testing::ValuesIn(lanes_of_graphs_on(support::gpu_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cuda, LaneOfGraphsAndCopies, testing::ValuesIn(lanes_of_copies_on(support::gpu_under_test())),
                         name_of_lane);
INSTANTIATE_TEST_SUITE_P(Cuda, LaneOfManyTiles, testing::ValuesIn(one_lane_per_signal_on(support::gpu_under_test())),
                         name_of_lane);

}  // namespace
}  // namespace penstock
