// SPDX-License-Identifier: Apache-2.0
// Tests which way a merge goes, and what becomes of one that NCCL refuses.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/gate.hpp"
#include "support/says_it_is_a_gpu.hpp"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/collective.hpp"

namespace penstock {
namespace {

using support::SaysItIsAGpu;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two devices that say they are GPUs, with a lane on each that has 3 and 4.
struct SharesByNccl : testing::Test {
  SaysItIsAGpu first{0}, second{1};
  DeviceGroup devices{std::vector<Device*>{&first, &second}};

  void TearDown() override {
    unsetenv("FAKE_NCCL_REFUSES");
    unsetenv("FAKE_NCCL_COUNTS");
  }
  void add_lanes(Reduction<std::uint32_t>& sums) {
    for (unsigned lane = 0; lane < 2; ++lane) {
      Device& device = *devices.all()[lane];
      Stream const stream = device.make_stream();
      std::uint32_t const value = 3 + lane;
      stream.upload(sums.share({device, stream, {}, lane}).array(), std::as_bytes(std::span(&value, 1)));
      stream.synchronize();
    }
  }
  /// Merges twice, because what was refused once is not asked for again.
  Merged<std::uint32_t> merged(ReductionOptions const& options) {
    Reduction<std::uint32_t> sums(devices, 1, ReduceOperation::sum, options);
    add_lanes(sums);
    static_cast<void>(sums.merge());
    return sums.merge();
  }
  static ErrorKind refusal_to_merge(Reduction<std::uint32_t>& sums) {
    try {
      static_cast<void>(sums.merge());
    } catch (Error const& error) {
      return error.kind();
    }
    return ErrorKind::bad_argument;
  }
};

TEST_F(SharesByNccl, GoThatWayBetweenGpus) {
  // It cannot know when the CPU's kernels are through, so it leaves their memory alone.
  setenv("FAKE_NCCL_COUNTS", "1", 1);
  EXPECT_EQ(merged({.nccl_library = PENSTOCK_FAKE_NCCL}).how, "by NCCL 2.28.3 on 2 GPUs");
}

TEST_F(SharesByNccl, GoByTheHostIfThereIsNone) {
  auto const all = merged({.nccl_library = "/nowhere/libnccl.so.2"});
  EXPECT_THAT(all.values, ElementsAre(7));
  EXPECT_THAT(all.how, HasSubstr("by memory of the host, of 2 devices, because: There is no NCCL"));
}

TEST_F(SharesByNccl, GoByTheHostIfThatIsWanted) {
  auto const all = merged({.nccl = false, .nccl_library = PENSTOCK_FAKE_NCCL});
  EXPECT_THAT(all.values, ElementsAre(7));
  EXPECT_THAT(all.how, HasSubstr("NCCL is not wanted."));
}

TEST_F(SharesByNccl, GoByTheHostIfItRefuses) {
  for (std::string const what : {"ncclCommInitAll", "ncclReduce", "ncclGroupEnd"}) {
    setenv("FAKE_NCCL_REFUSES", what.c_str(), 1);
    auto const all = merged({.nccl_library = PENSTOCK_FAKE_NCCL});
    EXPECT_THAT(all.values, ElementsAre(7)) << what;
    EXPECT_THAT(all.how, HasSubstr("invalid argument")) << what;
  }
}

TEST_F(SharesByNccl, AskItForAFirstOneBeforeAnyMerge) {
  setenv("FAKE_NCCL_REFUSES", "ncclGroupEnd", 1);
  Reduction<std::uint32_t> sums(devices, 1, ReduceOperation::sum, {.nccl_library = PENSTOCK_FAKE_NCCL});
  unsetenv("FAKE_NCCL_REFUSES");
  add_lanes(sums);
  auto const all = sums.merge();
  EXPECT_THAT(all.values, ElementsAre(7));
  EXPECT_THAT(all.how, HasSubstr("refuses to end"));
}

TEST_F(SharesByNccl, GoByTheHostIfItRefusesToBegin) {
  Reduction<std::uint32_t> sums(devices, 1, ReduceOperation::sum, {.nccl_library = PENSTOCK_FAKE_NCCL});
  add_lanes(sums);
  setenv("FAKE_NCCL_REFUSES", "ncclReduce", 1);
  EXPECT_THAT(sums.merge().values, ElementsAre(7));
  unsetenv("FAKE_NCCL_REFUSES");
  EXPECT_THAT(sums.merge().how, HasSubstr("refuses to reduce")) << "it is not asked again";
}

TEST_F(SharesByNccl, EndWithAMergeThatItMayStillBeAt) {
  Reduction<std::uint32_t> sums(devices, 1, ReduceOperation::sum, {.nccl_library = PENSTOCK_FAKE_NCCL});
  add_lanes(sums);
  setenv("FAKE_NCCL_REFUSES", "ncclGroupEnd", 1);
  EXPECT_EQ(refusal_to_merge(sums), ErrorKind::device_lost);
  unsetenv("FAKE_NCCL_REFUSES");
  EXPECT_EQ(refusal_to_merge(sums), ErrorKind::device_lost) << "the streams may be full for ever";
  EXPECT_THROW(sums.clear(), Error);
}

/// The first one's stream is held, as it would be by a kernel of NCCL's that waits for the second.
TEST_F(SharesByNccl, HearOfALossBehindAGpuThatIsStillAtIt) {
  setenv("FAKE_NCCL_COUNTS", "1", 1);
  Reduction<std::uint32_t> sums(devices, 1, ReduceOperation::sum,
                                {.while_running = true, .nccl_library = PENSTOCK_FAKE_NCCL});
  std::unique_ptr<void, int (*)(void*)> const library(dlopen(PENSTOCK_FAKE_NCCL, RTLD_NOW), dlclose);
  auto const& groups = *static_cast<std::atomic<int> const*>(dlsym(library.get(), "fake_nccl_groups"));
  add_lanes(sums);
  support::Gate gate;
  Stream const stream = first.make_stream({});
  sums.share({first, stream, {}, 0}).update(stream, [&] { stream.launch(1, [&](std::uint32_t) { gate.pass(); }); });
  int const before = groups;
  auto merge = std::async(std::launch::async, [&] { return refusal_to_merge(sums); });
  while (groups == before) std::this_thread::yield();
  second.abandon(Error(ErrorKind::device_lost, "It was given up."));
  EXPECT_EQ(merge.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  gate.open();
  EXPECT_EQ(merge.get(), ErrorKind::device_lost);
}

}  // namespace
}  // namespace penstock
