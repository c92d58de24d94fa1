// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/host_limits.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/machine/fake_system.hpp"

namespace penstock {
namespace {

TEST(HostLimits, AreReadFromTheSystemsFiles) {
  FakeSystem const system;
  system.write("proc/meminfo",
               "MemTotal:       16384 kB\nMemFree:    1 kB\nMemAvailable:    8192 kB\n"
               "HugePages_Total:       7\nHugePages_Free:        5\nHugepagesize:       2048 kB\n");
  system.write("proc/cpuinfo", "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Some CPU @ 3 GHz\n\nprocessor\t: 1\n");
  system.write("proc/sys/kernel/hostname", "box\n");
  system.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  system.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  system.write("proc/self/cgroup", "0::/\n");
  system.write("sys/fs/cgroup/memory.max", "1048576\n");
  system.write("sys/fs/cgroup/memory.current", "48576\n");
  auto const limits = HostLimits::read(system.root());
  EXPECT_EQ(limits.cgroup_memory_left_bytes, 1000000u);
  EXPECT_EQ(limits.memory_bytes, 16384u * 1024);
  EXPECT_EQ(limits.memory_available_bytes, 8192u * 1024);
  EXPECT_EQ(limits.huge_page_bytes, 2048u * 1024);
  EXPECT_EQ(limits.free_huge_pages, 5u);
  EXPECT_EQ(limits.cpu_model, "Some CPU @ 3 GHz");
  EXPECT_EQ(limits.hostname, "box");
  EXPECT_EQ(limits.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(limits.transparent_huge_pages, "madvise");
  EXPECT_EQ(limits.cgroup_memory_bytes, 1048576u);
}

TEST(HostLimits, AreEmptyWhereTheSystemSaysNothing) {
  FakeSystem const system;
  auto const limits = HostLimits::read(system.root());
  EXPECT_EQ(limits.memory_bytes, 0u);
  EXPECT_EQ(limits.cpu_model, "");
  EXPECT_EQ(limits.transparent_huge_pages, "");
  EXPECT_EQ(limits.cgroup_memory_bytes, std::nullopt);
}

TEST(HostLimits, AreThisMachinesByDefault) {
  auto const memory_now = [] {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  };
  auto const memory = memory_now();
  auto const limits = HostLimits::read();
  if (memory_now() != memory) GTEST_SKIP() << "this machine is being given memory, or deprived of it";
  utsname self{};
  ASSERT_EQ(uname(&self), 0);
  EXPECT_EQ(limits.kernel, self.release);
  EXPECT_EQ(limits.hostname, self.nodename);
  EXPECT_EQ(limits.memory_bytes, memory);
  EXPECT_GT(limits.memory_available_bytes, 0u);
  EXPECT_LE(limits.memory_available_bytes, memory);
}

TEST(HostLimits, TellTheMemlockLimitInForce) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
  rlimit const lower{.rlim_cur = 65536, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &lower), 0);
  EXPECT_EQ(HostLimits::read().memlock_bytes, 65536u);
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

struct Cgroup : testing::Test {
  FakeSystem system;
  CgroupLimits limits() const { return CgroupLimits::read(system.root()); }
};

TEST_F(Cgroup, HasNoLimitsWhereThereAreNoGroups) {
  EXPECT_EQ(limits().cpus, std::nullopt);
  EXPECT_EQ(limits().memory_bytes, std::nullopt);
}

/// One group's files, and what they say.
struct Written {
  std::string name;
  std::vector<std::pair<std::string, std::string>> files;
  CgroupLimits means;
};

struct CgroupOfEitherVersion : Cgroup, testing::WithParamInterface<Written> {
  static std::vector<Written> all() {
    std::string const group = "proc/self/cgroup", mounts = "sys/fs/cgroup/";
    return {{"LimitsOfVersionTwo",
             {{group, "0::/app\n"},
              {mounts + "app/cpu.max", "150000 100000\n"},
              {mounts + "app/memory.max", "4294967296\n"}},
             {.cpus = 1.5, .memory_bytes = 4294967296}},
            {"MaxInVersionTwo",
             {{group, "0::/app\n"}, {mounts + "app/cpu.max", "max 100000\n"}, {mounts + "app/memory.max", "max\n"}},
             {}},
            {"LimitsOfVersionOne",
             {{group, "4:memory:/app\n2:cpu,cpuacct:/app\n1:name=systemd:/\n"},
              {mounts + "cpu,cpuacct/app/cpu.cfs_quota_us", "300000\n"},
              {mounts + "cpu,cpuacct/app/cpu.cfs_period_us", "100000\n"},
              {mounts + "memory/app/memory.limit_in_bytes", "1048576\n"}},
             {.cpus = 3.0, .memory_bytes = 1048576}},
            {"MinusOneAndHugeNumbersInVersionOne",
             {{group, "4:memory:/\n2:cpu:/\n"},
              {mounts + "cpu/cpu.cfs_quota_us", "-1\n"},
              {mounts + "cpu/cpu.cfs_period_us", "100000\n"},
              {mounts + "memory/memory.limit_in_bytes", "9223372036854771712\n"}},
             {}}};
  }
};
INSTANTIATE_TEST_SUITE_P(Cgroup, CgroupOfEitherVersion, testing::ValuesIn(CgroupOfEitherVersion::all()),
                         [](auto const& tested) { return tested.param.name; });

TEST_P(CgroupOfEitherVersion, MeansWhatItsFilesSay) {
  for (auto const& [path, text] : GetParam().files) system.write(path, text);
  EXPECT_EQ(limits().cpus, GetParam().means.cpus);
  EXPECT_EQ(limits().memory_bytes, GetParam().means.memory_bytes);
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

TEST_F(Cgroup, HasLeftWhatIsNotInUse) {
  system.write("proc/self/cgroup", "0::/slice/app\n");
  system.write("sys/fs/cgroup/slice/memory.max", "10000\n");
  system.write("sys/fs/cgroup/slice/memory.current", "9500\n");
  system.write("sys/fs/cgroup/slice/memory.stat",
               "anon 8000\nfile 1300\ninactive_file 900\nactive_file 400\nslab_reclaimable 200\n");
  system.write("sys/fs/cgroup/slice/app/memory.max", "5000\n");
  system.write("sys/fs/cgroup/slice/app/memory.current", "1000\n");
  EXPECT_EQ(limits().memory_bytes, 5000u);
  EXPECT_EQ(limits().memory_left_bytes, 2000u)
      << "what the group above has left: pages of files, also those in use, and slabs go before anything is refused";
  system.write("sys/fs/cgroup/slice/app/memory.current", "6000\n");
  EXPECT_EQ(limits().memory_left_bytes, 0u) << "it may be over its limit for a moment";
}

TEST_F(Cgroup, HasLeftWhatIsNotInUseInVersionOneToo) {
  system.write("proc/self/cgroup", "4:memory:/app\n");
  system.write("sys/fs/cgroup/memory/app/memory.limit_in_bytes", "10000\n");
  system.write("sys/fs/cgroup/memory/app/memory.usage_in_bytes", "7000\n");
  system.write("sys/fs/cgroup/memory/app/memory.stat",
               "inactive_file 1\nactive_file 1\ntotal_inactive_file 2000\ntotal_active_file 500\n");
  EXPECT_EQ(limits().memory_left_bytes, 5500u);
}

TEST_F(Cgroup, HasLeftNoMoreThanItsLimitThoughMoreCouldBeTakenBackThanIsInUse) {
  system.write("proc/self/cgroup", "0::/app\n");
  system.write("sys/fs/cgroup/app/memory.max", "10000\n");
  system.write("sys/fs/cgroup/app/memory.current", "1000\n");
  system.write("sys/fs/cgroup/app/memory.stat", "inactive_file 800\nactive_file 700\nslab_reclaimable 600\n");
  EXPECT_EQ(limits().memory_left_bytes, 10000u) << "the two files are read one after the other";
}

TEST_F(Cgroup, FindsAContainersLimitsAtTheMountWhenItsPathIsTheHosts) {
  system.write("proc/self/cgroup", "0::/docker/0123abcd\n");
  system.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(limits().cpus, 0.5);
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
