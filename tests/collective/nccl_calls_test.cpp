// SPDX-License-Identifier: Apache-2.0
// What penstock says of NCCL's interface is what its header says, where that is.
#include "penstock/collective/nccl_calls.hpp"

#include <type_traits>

#include <gtest/gtest.h>
#include <nccl.h>

namespace penstock::nccl {
namespace {

static_assert(int32 == ncclInt32 && uint32 == ncclUint32 && int64 == ncclInt64 && uint64 == ncclUint64);
static_assert(float32 == ncclFloat32 && float64 == ncclFloat64);
static_assert(sum == ncclSum && max == ncclMax && min == ncclMin);
static_assert(sizeof(ncclDataType_t) == sizeof(int) && sizeof(ncclRedOp_t) == sizeof(int));
static_assert(sizeof(ncclResult_t) == sizeof(int) && ncclSuccess == 0);
static_assert(std::is_pointer_v<ncclComm_t> && std::is_pointer_v<cudaStream_t>);

TEST(NcclCalls, AreAsItsHeaderHasThem) {
  EXPECT_TRUE((std::is_same_v<decltype(&ncclReduce), ncclResult_t (*)(void const*, void*, std::size_t, ncclDataType_t,
                                                                      ncclRedOp_t, int, ncclComm_t, cudaStream_t)>));
  EXPECT_TRUE((std::is_same_v<decltype(&ncclCommInitAll), ncclResult_t (*)(ncclComm_t*, int, int const*)>));
  EXPECT_TRUE((std::is_same_v<decltype(&ncclCommDestroy), ncclResult_t (*)(ncclComm_t)>));
  EXPECT_TRUE((std::is_same_v<decltype(&ncclGetVersion), ncclResult_t (*)(int*)>));
  EXPECT_TRUE((std::is_same_v<decltype(&ncclGetErrorString), char const* (*)(ncclResult_t)>));
  EXPECT_TRUE((std::is_same_v<decltype(&ncclGroupStart), ncclResult_t (*)()>));
  EXPECT_TRUE((std::is_same_v<decltype(&ncclGroupEnd), ncclResult_t (*)()>));
}

}  // namespace
}  // namespace penstock::nccl
