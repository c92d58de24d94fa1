// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/host_load.hpp"

#include <chrono>
#include <ctime>

#include "machine/fake_system.hpp"
#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST(HostLoad, IsTheTimeInWhichItsCpusWereNotIdle) {
  FakeSystem const system;
  char const* const before = "cpu  9 9 9 999 9\ncpu0 1 0 1 100 0 0 0\ncpu1 1 0 1 100 5 0 0\ncpu2 0 0 0 7 0\nintr 1\n";
  system.write("proc/stat", before);
  auto const began = steady_clock::now();
  HostLoad const load(CpuSet{0, 1}, system.root());
  nanoseconds const busy = load.busy().value();
  EXPECT_LE(busy, 2 * (steady_clock::now() - began)) << "neither of the two was idle, and the third does not count";
  system.write("proc/stat", "cpu0 1 0 1 999100 0 0 0\ncpu1 1 0 1 999100 5 0 0\ncpu2 0 0 0 7 0\n");
  EXPECT_EQ(load.busy(), nanoseconds(0)) << "they were idle for as long as there was time, and longer";
}

TEST(HostLoad, IsEmptyWhereTheSystemSaysNothing) {
  FakeSystem const system;
  EXPECT_FALSE(HostLoad(CpuSet{0}, system.root()).busy());
  system.write("proc/stat", "cpu0 1 0 1 100 0\n");
  EXPECT_FALSE(HostLoad((CpuSet{0, 4}), system.root()).busy()) << "of one of them it is not known";
  system.write("proc/stat", "cpu0 1 0 not a number\n");
  EXPECT_FALSE(HostLoad(CpuSet{0}, system.root()).busy());
}

TEST(HostLoad, OfThisMachineHasAtLeastWhatThisThreadUses) {
  HostLoad const load(affinity_of_this_thread());
  if (!load.busy()) GTEST_SKIP() << "this system does not say how long its CPUs are idle";
  auto const used = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
  };
  auto const from = used();
  while (used() - from < std::chrono::milliseconds(200)) {
  }
  auto const unsure = static_cast<int>(affinity_of_this_thread().size()) * HostLoad::unsure();
  EXPECT_GE(load.busy().value() + unsure, std::chrono::milliseconds(200));
}

}  // namespace
}  // namespace penstock
