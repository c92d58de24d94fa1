// SPDX-License-Identifier: Apache-2.0
#include "support/gpu_under_test.hpp"

#include "records/records_contract.hpp"

namespace penstock {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, RecordsContract, testing::Values(support::gpu_under_test()), name_of);

}  // namespace
}  // namespace penstock
