// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/host_limits.hpp"

#include "machine/fake_system.hpp"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

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

}  // namespace
}  // namespace penstock
