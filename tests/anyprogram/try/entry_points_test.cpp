// SPDX-License-Identifier: Apache-2.0
// Tests that penstock says of the driver's entry points what CUDA's header says, where it is.
#include "anyprogram/preload/entry_points.hpp"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include <cuda.h>
#include <gtest/gtest.h>

namespace penstock::preload {
namespace {

std::map<std::string, EntryPoint> table() {
  std::map<std::string, EntryPoint> all;
#define ENTRY(name, suffix, place) all[#name] = {#name, #suffix, StreamPlace::place};
  PENSTOCK_ENTRY_POINTS(ENTRY)
#undef ENTRY
  return all;
}

TEST(EntryPoints, AreAllThatTheHeaderHasInTwoVariants) {
  std::ifstream file(CUDA_HEADER);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty()) << CUDA_HEADER;
  std::regex const variant(R"(__CUDA_API_(PTDS|PTSZ)\((cu\w+)\))");
  auto const known = table();
  std::size_t found = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), variant), end; at != end; ++at, ++found) {
    auto const entry = known.find((*at)[2]);
    ASSERT_NE(entry, known.end()) << (*at)[2] << " is in " << CUDA_HEADER << " and not in the table";
    EXPECT_STREQ(entry->second.suffix, (*at)[1] == "PTDS" ? "_ptds" : "_ptsz") << entry->first;
  }
  EXPECT_GT(found, 70u);
}

/// The place of the one argument that is a stream. By the type alone: nothing here is linked with the driver.
template <class Function>
struct PlaceOfStream;
template <class Result, class... Arguments>
struct PlaceOfStream<Result (*)(Arguments...)> {
  static std::size_t get() {
    std::size_t place = 0, found = 99;
    ((found = std::is_same_v<Arguments, CUstream> ? place : found, ++place), ...);
    return found;
  }
};

TEST(EntryPoints, HaveTheirStreamWhereTheHeaderHasIt) {
  auto const known = table();
  auto const expect = [&](char const* name, std::size_t place) {
    StreamPlace const said = known.at(name).stream;
    std::map<StreamPlace, std::size_t> const places{{StreamPlace::argument_0, 0}, {StreamPlace::argument_1, 1},
                                                    {StreamPlace::argument_2, 2}, {StreamPlace::argument_3, 3},
                                                    {StreamPlace::argument_4, 4}, {StreamPlace::argument_5, 5},
                                                    {StreamPlace::argument_8, 8}, {StreamPlace::everywhere, 99}};
    ASSERT_TRUE(places.contains(said)) << name;
    EXPECT_EQ(places.at(said), place) << name;
  };
#define EXPECT_PLACE(name, function) expect(#name, PlaceOfStream<decltype(&function)>::get())
  EXPECT_PLACE(cuMemcpy, cuMemcpy);
  EXPECT_PLACE(cuMemcpyHtoD_v2, cuMemcpyHtoD);
  EXPECT_PLACE(cuMemcpy3D_v2, cuMemcpy3D);
  EXPECT_PLACE(cuMemsetD2D32_v2, cuMemsetD2D32);
  EXPECT_PLACE(cuMemcpyAsync, cuMemcpyAsync);
  EXPECT_PLACE(cuMemcpyPeerAsync, cuMemcpyPeerAsync);
  EXPECT_PLACE(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync);
  EXPECT_PLACE(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync);
  EXPECT_PLACE(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync);
  EXPECT_PLACE(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync);
  EXPECT_PLACE(cuMemcpy2DAsync_v2, cuMemcpy2DAsync);
  EXPECT_PLACE(cuMemcpy3DAsync_v2, cuMemcpy3DAsync);
  EXPECT_PLACE(cuMemsetD8Async, cuMemsetD8Async);
  EXPECT_PLACE(cuMemsetD32Async, cuMemsetD32Async);
  EXPECT_PLACE(cuMemsetD2D8Async, cuMemsetD2D8Async);
  EXPECT_PLACE(cuMemMapArrayAsync, cuMemMapArrayAsync);
  EXPECT_PLACE(cuMemFreeAsync, cuMemFreeAsync);
  EXPECT_PLACE(cuMemAllocAsync, cuMemAllocAsync);
  EXPECT_PLACE(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync);
  EXPECT_PLACE(cuStreamWaitEvent, cuStreamWaitEvent);
  EXPECT_PLACE(cuStreamAddCallback, cuStreamAddCallback);
  EXPECT_PLACE(cuStreamAttachMemAsync, cuStreamAttachMemAsync);
  EXPECT_PLACE(cuStreamQuery, cuStreamQuery);
  EXPECT_PLACE(cuStreamSynchronize, cuStreamSynchronize);
  EXPECT_PLACE(cuStreamWriteValue32_v2, cuStreamWriteValue32);
  EXPECT_PLACE(cuStreamBatchMemOp_v2, cuStreamBatchMemOp);
  EXPECT_PLACE(cuEventRecord, cuEventRecord);
  EXPECT_PLACE(cuEventRecordWithFlags, cuEventRecordWithFlags);
  EXPECT_PLACE(cuLaunchKernel, cuLaunchKernel);
  EXPECT_PLACE(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel);
  EXPECT_PLACE(cuLaunchHostFunc, cuLaunchHostFunc);
  EXPECT_PLACE(cuGraphUpload, cuGraphUpload);
  EXPECT_PLACE(cuGraphLaunch, cuGraphLaunch);
  EXPECT_PLACE(cuGraphicsMapResources, cuGraphicsMapResources);
  EXPECT_PLACE(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync);
  EXPECT_PLACE(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync);
#undef EXPECT_PLACE
  EXPECT_EQ(known.at("cuLaunchKernelEx").stream, StreamPlace::in_config);
  EXPECT_EQ(offsetof(CUlaunchConfig, hStream), 32u);
}

}  // namespace
}  // namespace penstock::preload
