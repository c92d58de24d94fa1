// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/cgroup.hpp"

#include "machine/fake_system.hpp"
#include <gtest/gtest.h>

namespace penstock {
namespace {

struct Cgroup : testing::Test {
  FakeSystem system;
  CgroupLimits limits() const { return CgroupLimits::read(system.root()); }
};

TEST_F(Cgroup, HasNoLimitsWhereThereAreNoGroups) {
  EXPECT_EQ(limits().cpus, std::nullopt);
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

TEST_F(Cgroup, ReadsTheLimitsOfVersionTwo) {
  system.write("proc/self/cgroup", "0::/app\n");
  system.write("sys/fs/cgroup/app/cpu.max", "150000 100000\n");
  system.write("sys/fs/cgroup/app/memory.max", "4294967296\n");
  EXPECT_EQ(limits().cpus, 1.5);
  EXPECT_EQ(limits().memory_bytes, 4294967296u);
}

TEST_F(Cgroup, TakesMaxForNoLimit) {
  system.write("proc/self/cgroup", "0::/app\n");
  system.write("sys/fs/cgroup/app/cpu.max", "max 100000\n");
  system.write("sys/fs/cgroup/app/memory.max", "max\n");
  EXPECT_EQ(limits().cpus, std::nullopt);
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

TEST_F(Cgroup, ObeysTheSmallestLimitAmongItsAncestors) {
  system.write("proc/self/cgroup", "0::/slice/app\n");
  system.write("sys/fs/cgroup/slice/cpu.max", "200000 100000\n");
  system.write("sys/fs/cgroup/slice/memory.max", "1000\n");
  system.write("sys/fs/cgroup/slice/app/cpu.max", "400000 100000\n");
  system.write("sys/fs/cgroup/slice/app/memory.max", "900\n");
  EXPECT_EQ(limits().cpus, 2.0);
  EXPECT_EQ(limits().memory_bytes, 900u);
}

TEST_F(Cgroup, FindsAContainersLimitsAtTheMountWhenItsPathIsTheHosts) {
  system.write("proc/self/cgroup", "0::/docker/0123abcd\n");
  system.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(limits().cpus, 0.5);
}

TEST_F(Cgroup, ReadsTheLimitsOfVersionOne) {
  system.write("proc/self/cgroup", "4:memory:/app\n2:cpu,cpuacct:/app\n1:name=systemd:/\n");
  system.write("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "300000\n");
  system.write("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "100000\n");
  system.write("sys/fs/cgroup/memory/app/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(limits().cpus, 3.0);
  EXPECT_EQ(limits().memory_bytes, 1048576u);
}

TEST_F(Cgroup, TakesVersionOnesHugeNumbersAndMinusOneForNoLimit) {
  system.write("proc/self/cgroup", "4:memory:/\n2:cpu:/\n");
  system.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  system.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limits().cpus, std::nullopt);
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

TEST_F(Cgroup, SurvivesNonsense) {
  system.write("proc/self/cgroup", "\n::\n0\n0::/app\n");
  system.write("sys/fs/cgroup/app/cpu.max", "many 0\n");
  system.write("sys/fs/cgroup/app/memory.max", "");
  system.write("sys/fs/cgroup/cpu.max", "100000\n");
  EXPECT_EQ(limits().cpus, std::nullopt);
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

TEST_F(Cgroup, LetsAsManyThreadsBeBusyAsItsQuotaPaysFor) {
  EXPECT_EQ((CgroupLimits{.cpus = {}, .memory_bytes = {}}.busy_threads(8)), 8u);
  EXPECT_EQ((CgroupLimits{.cpus = 1.5, .memory_bytes = {}}.busy_threads(8)), 2u);
  EXPECT_EQ((CgroupLimits{.cpus = 0.1, .memory_bytes = {}}.busy_threads(8)), 1u);
  EXPECT_EQ((CgroupLimits{.cpus = 9.0, .memory_bytes = {}}.busy_threads(8)), 8u);
}

}  // namespace
}  // namespace penstock
