// SPDX-License-Identifier: Apache-2.0
// Which way a merge goes, and what becomes of one that NCCL refuses.
#include <cstdlib>
#include <string>
#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/collective/reduction.hpp"

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
  /// Merges twice, because what was refused once is not asked for again.
  Merged<std::uint32_t> merged(ReductionOptions const& options) {
    Reduction<std::uint32_t> sums(devices, 1, ReduceOperation::sum, options);
    for (unsigned lane = 0; lane < 2; ++lane) {
      Device& device = *devices.all()[lane];
      Stream const stream = device.make_stream();
      std::uint32_t const value = 3 + lane;
      stream.upload(sums.share({device, stream, {}, lane}).array(), std::as_bytes(std::span(&value, 1)));
      stream.synchronize();
    }
    static_cast<void>(sums.merge());
    return sums.merge();
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
    EXPECT_THAT(all.how, HasSubstr("so the test wants it.")) << what;
  }
}

}  // namespace
}  // namespace penstock
