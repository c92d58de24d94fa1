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
static_assert(ncclSuccess == 0);

/// How `Calls` has a type of the header: enumerations as int, handles as void*.
template <class Type>
struct As {
  using Plain = Type;
};
template <class Type>
requires std::is_enum_v<Type>
struct As<Type> {
  static_assert(sizeof(Type) == sizeof(int));
  using Plain = int;
};
template <>
struct As<ncclComm_t> {
  using Plain = void*;
};
template <>
struct As<ncclComm_t*> {
  using Plain = void**;
};
template <>
struct As<cudaStream_t> {
  using Plain = void*;
};
template <class Returned, class... Taken>
struct As<Returned (*)(Taken...)> {
  using Plain = typename As<Returned>::Plain (*)(typename As<Taken>::Plain...);
};

template <class Ours, class Theirs>
constexpr bool is_as = std::is_same_v<Ours, typename As<Theirs>::Plain>;

TEST(NcclCalls, AreAsItsHeaderHasThem) {
  EXPECT_TRUE((is_as<decltype(Calls::get_version), decltype(&ncclGetVersion)>));
  EXPECT_TRUE((is_as<decltype(Calls::error_text), decltype(&ncclGetErrorString)>));
  EXPECT_TRUE((is_as<decltype(Calls::init_all), decltype(&ncclCommInitAll)>));
  EXPECT_TRUE((is_as<decltype(Calls::destroy), decltype(&ncclCommDestroy)>));
  EXPECT_TRUE((is_as<decltype(Calls::group_start), decltype(&ncclGroupStart)>));
  EXPECT_TRUE((is_as<decltype(Calls::group_end), decltype(&ncclGroupEnd)>));
  EXPECT_TRUE((is_as<decltype(Calls::reduce), decltype(&ncclReduce)>));
}

}  // namespace
}  // namespace penstock::nccl
