// SPDX-License-Identifier: Apache-2.0
#include "support/gpu_under_test.hpp"

#include "engine/flow/ordered_stage_contract.hpp"
#include "engine/flow/pipeline_contract.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, PipelineContract, testing::Values(support::gpu_under_test()), name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, OrderedStageContract, testing::Values(support::gpu_under_test()), name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, PipelineBySignal, testing::ValuesIn(every_pipeline_on(support::gpu_under_test())),
                         name_of_pipeline);

}  // namespace
}  // namespace penstock
