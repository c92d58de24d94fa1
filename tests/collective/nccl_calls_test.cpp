// SPDX-License-Identifier: Apache-2.0
// Tests that penstock says of NCCL's interface what its header says, where that is.
#include "collective/nccl_calls.hpp"

#include <cstddef>
#include <type_traits>

#include <gtest/gtest.h>
#include <nccl.h>

namespace penstock::nccl {
namespace {

static_assert(int32 == ncclInt32 && uint32 == ncclUint32 && int64 == ncclInt64 && uint64 == ncclUint64);
static_assert(float32 == ncclFloat32 && float64 == ncclFloat64);
static_assert(sum == ncclSum && max == ncclMax && min == ncclMin);
static_assert(ncclSuccess == 0);
static_assert(Config::undefined == NCCL_CONFIG_UNDEF_INT && sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
static_assert(offsetof(Config, min_ctas) == offsetof(ncclConfig_t, minCTAs));
static_assert(offsetof(Config, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
static_assert(offsetof(Config, net_name) == offsetof(ncclConfig_t, netName));

/// Type that `Calls` has for one of the header: enumerations as int, handles as void*.
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
template <>
struct As<ncclUniqueId> {
  using Plain = UniqueId;
};
template <>
struct As<ncclUniqueId*> {
  using Plain = UniqueId*;
};
template <>
struct As<ncclConfig_t*> {
  using Plain = Config*;
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
  EXPECT_TRUE((is_as<decltype(Calls::all_reduce), decltype(&ncclAllReduce)>));
  EXPECT_TRUE((is_as<decltype(Calls::get_unique_id), decltype(&ncclGetUniqueId)>));
  EXPECT_TRUE((is_as<decltype(Calls::init_rank), decltype(&ncclCommInitRankConfig)>));
  EXPECT_EQ(Config{}.magic, (ncclConfig_t NCCL_CONFIG_INITIALIZER).magic);
}

}  // namespace
}  // namespace penstock::nccl
