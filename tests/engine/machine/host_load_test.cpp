// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/host_load.hpp"

#include <chrono>
#include <ctime>

#include <gtest/gtest.h>

#include "engine/machine/fake_system.hpp"

namespace penstock {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(HostLoad, KnowsForHowLongItsCpusHadNothingToDo) {
  FakeSystem const system;
  system.write("proc/stat", "cpu  9 9 9 999 9\ncpu0 1 0 1 100 0 0 0\ncpu1 1 0 1 100 5 0 0\ncpu2 0 0 0 7 0\nintr 1\n");
  HostLoad const load(CpuSet{0, 1}, system.root());
  EXPECT_EQ(load.idle(), nanoseconds(0)) << "neither of the two was idle, and the third does not count";
  EXPECT_EQ(load.of_others(2, seconds(1)), nanoseconds(0)) << "this process had all of it";
  system.write("proc/stat", "cpu0 1 0 1 999100 0 0 0\ncpu1 1 0 1 999100 5 0 0\ncpu2 0 0 0 7 0\n");
  nanoseconds const idle = load.idle().value();
  EXPECT_LE(idle, 2 * load.elapsed()) << "for as long as there was time, though ticks say more";
  EXPECT_EQ(load.of_others(2, nanoseconds(0)), nanoseconds(0));
}

TEST(HostLoad, CountsForOthersWhatOfTheAllowedTimeIsNeitherUsedNorIdle) {
  FakeSystem const system;
  char const* const stat = "cpu0 1 0 1 100 0\ncpu1 1 0 1 100 0\ncpu2 1 0 1 100 0\ncpu3 1 0 1 100 0\n";
  system.write("proc/stat", stat);
  HostLoad const load((CpuSet{0, 1, 2, 3}), system.root());
  auto const others = [&](unsigned allowed) {
    while (load.elapsed() < std::chrono::milliseconds(80)) {
    }
    return load.of_others(allowed, std::chrono::milliseconds(40));
  };
  EXPECT_GT(others(4), std::chrono::milliseconds(4 * 80 - 40 - 21)) << "no CPU was idle";
  system.write("proc/stat", "cpu0 1 0 1 100 0\ncpu1 1 0 1 100 0\ncpu2 1 0 1 999100 0\ncpu3 1 0 1 999100 0\n");
  EXPECT_EQ(others(1), nanoseconds(0)) << "what it may use beyond its own was there";
}

TEST(HostLoad, IsEmptyWhereTheSystemSaysNothing) {
  FakeSystem const system;
  EXPECT_FALSE(HostLoad(CpuSet{0}, system.root()).idle());
  EXPECT_EQ(HostLoad(CpuSet{0}, system.root()).of_others(1, nanoseconds(0)), nanoseconds(0));
  system.write("proc/stat", "cpu0 1 0 1 100 0\n");
  EXPECT_FALSE(HostLoad((CpuSet{0, 4}), system.root()).idle()) << "of one of them it is not known";
  system.write("proc/stat", "cpu0 1 0 not a number\n");
  EXPECT_FALSE(HostLoad(CpuSet{0}, system.root()).idle());
}

TEST(HostLoad, OfThisMachineHasNoIdleTimeThatThisThreadUses) {
  HostLoad const load(affinity_of_this_thread());
  if (!load.idle()) GTEST_SKIP() << "this system does not say how long its CPUs are idle";
  auto const used = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
  };
  auto const from = used();
  while (used() - from < std::chrono::milliseconds(200)) {
  }
  auto const cpus = static_cast<int>(affinity_of_this_thread().size());
  nanoseconds const ticks = cpus * std::chrono::milliseconds(20);
  nanoseconds const idle = load.idle().value();
  EXPECT_LE(idle, cpus * load.elapsed() - std::chrono::milliseconds(200) + ticks);
}

}  // namespace
}  // namespace penstock
