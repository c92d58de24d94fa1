// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/topology.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "engine/machine/cpu_set.hpp"
#include "engine/machine/fake_system.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns the error that `act` throws; fails the test if it throws nothing.
template <class Act>
Error error_of(Act act) {
  try {
    act();
  } catch (Error const& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::system, "");
}

/// Two nodes with gaps in all numbers and a third that is only memory, as hwloc writes machines down.
constexpr char const* odd_machine = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x00000f0f" complete_cpuset="0x00000f0f" allowed_cpuset="0x00000707"
   nodeset="0x0000002c" complete_nodeset="0x0000002c" allowed_nodeset="0x0000002c">
  <object type="NUMANode" os_index="5" cpuset="0x0" complete_cpuset="0x0" nodeset="0x00000020"
    complete_nodeset="0x00000020" local_memory="1024"/>
  <object type="Package" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f" nodeset="0x00000004"
    complete_nodeset="0x00000004">
   <object type="NUMANode" os_index="2" cpuset="0x0000000f" complete_cpuset="0x0000000f" nodeset="0x00000004"
     complete_nodeset="0x00000004" local_memory="2147483648"/>
   <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x4" complete_nodeset="0x4"/>
   <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x4" complete_nodeset="0x4"/>
   <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x4" complete_nodeset="0x4"/>
   <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x4" complete_nodeset="0x4"/>
  </object>
  <object type="Package" os_index="1" cpuset="0x00000f00" complete_cpuset="0x00000f00" nodeset="0x00000008"
    complete_nodeset="0x00000008">
   <object type="NUMANode" os_index="3" cpuset="0x00000f00" complete_cpuset="0x00000f00" nodeset="0x00000008"
     complete_nodeset="0x00000008" local_memory="1073741824"/>
   <object type="PU" os_index="8" cpuset="0x100" complete_cpuset="0x100" nodeset="0x8" complete_nodeset="0x8"/>
   <object type="PU" os_index="9" cpuset="0x200" complete_cpuset="0x200" nodeset="0x8" complete_nodeset="0x8"/>
   <object type="PU" os_index="10" cpuset="0x400" complete_cpuset="0x400" nodeset="0x8" complete_nodeset="0x8"/>
   <object type="PU" os_index="11" cpuset="0x800" complete_cpuset="0x800" nodeset="0x8" complete_nodeset="0x8"/>
  </object>
 </object>
</topology>
)";

TEST(Topology, KnowsTheNodesOfAMadeUpMachine) {
  auto const topology = Topology::from_synthetic("numa:2 core:4 pu:1");
  ASSERT_EQ(topology.nodes().size(), 2u);
  EXPECT_EQ(topology.nodes()[0].cpus, (CpuSet{0, 1, 2, 3}));
  EXPECT_EQ(topology.nodes()[1].cpus, (CpuSet{4, 5, 6, 7}));
  EXPECT_EQ(topology.cpus(), (CpuSet{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(topology.node_of_cpu(5), 1);
  EXPECT_EQ(topology.node_of_cpu(8), std::nullopt);
  EXPECT_FALSE(topology.is_this_machine());
  EXPECT_EQ(topology.cpu_quota(), std::nullopt);
  EXPECT_EQ(topology.busy_threads(), 8u);
}

TEST(Topology, KnowsTheEightNodesOfABigMachine) {
  auto const topology = Topology::from_synthetic("package:2 numa:4 core:8 pu:2");
  ASSERT_EQ(topology.nodes().size(), 8u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(topology.node(i).number, i);
    EXPECT_EQ(topology.node(i).cpus.size(), 16u);
    EXPECT_EQ(topology.node_of_cpu(i * 16 + 15), i);
  }
}

TEST(Topology, ReadsAMachineFromXmlWithGapsAForbiddenCpuAndANodeOfMemoryOnly) {
  FakeSystem const system;
  system.write("machine.xml", odd_machine);
  auto const topology = Topology::from_xml(system.root() / "machine.xml");
  ASSERT_EQ(topology.nodes().size(), 3u);
  EXPECT_EQ(topology.node(2).cpus, (CpuSet{0, 1, 2}));
  EXPECT_EQ(topology.node(2).memory_bytes, 2147483648u);
  EXPECT_EQ(topology.node(3).cpus, (CpuSet{8, 9, 10}));
  EXPECT_TRUE(topology.node(5).cpus.empty());
  EXPECT_EQ(topology.cpus(), (CpuSet{0, 1, 2, 8, 9, 10}));
  EXPECT_EQ(topology.node_of_cpu(3), std::nullopt) << "it is not allowed";
  EXPECT_EQ(topology.describe(),
            "3 NUMA nodes, 6 CPUs: node 2 has CPUs 0-2 and 2 GiB; node 3 has CPUs 8-10 and 1 GiB; node 5 has no CPU "
            "and 1 KiB");
}

TEST(Topology, NamesTheNodesThatThereAreWhenAskedForAnother) {
  auto const topology = Topology::from_synthetic("numa:2 core:4 pu:1");
  auto const error = error_of([&] { topology.node(2); });
  EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
  EXPECT_NE(std::string(error.what()).find("there is 0, 1"), std::string::npos) << error.what();
}

TEST(Topology, RefusesXmlThatIsMissingOrIsNone) {
  FakeSystem const system;
  system.write("text.xml", "hello");
  for (auto const* name : {"absent.xml", "text.xml"}) {
    auto const error = error_of([&] { Topology::from_xml(system.root() / name); });
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
  }
}

TEST(Topology, RefusesADescriptionOfNothing) {
  for (auto const* description : {"", "numa", "numa:two pu:1", "core:0"}) {
    EXPECT_EQ(error_of([&] { Topology::from_synthetic(description); }).kind(), ErrorKind::bad_argument) << description;
  }
}

TEST(Topology, DetectsNoMoreThanThisThreadMayUse) {
  auto const topology = Topology::detect();
  EXPECT_TRUE(topology.is_this_machine());
  EXPECT_EQ(topology.cpus(), topology.cpus().intersected_with(affinity_of_this_thread()));
  ASSERT_FALSE(topology.nodes().empty());
  for (int const cpu : topology.nodes().front().cpus) EXPECT_TRUE(topology.cpus().contains(cpu));
}

TEST(Topology, RespectsARestrictionMadeBeforeItsDetection) {
  CpuSet const all = affinity_of_this_thread();
  if (all.size() < 2) GTEST_SKIP() << "this takes two CPUs";
  CpuSet const one{*(all.end() - 1)};
  std::jthread([&] {
    ASSERT_EQ(bind_this_thread(one), std::nullopt);
    auto const topology = Topology::detect();
    EXPECT_EQ(topology.cpus(), one);
    EXPECT_EQ(topology.busy_threads(), 1u);
    EXPECT_EQ(affinity_of_this_thread(), one) << "looking around moved the thread";
  }).join();
  EXPECT_EQ(Topology::detect().cpus(), all);
}

TEST(Topology, CountsNoMoreBusyThreadsThanTheQuotaLetsRun) {
  FakeSystem const system;
  system.write("proc/self/cgroup", "0::/\n");
  system.write("sys/fs/cgroup/cpu.max", "20000 100000\n");
  auto const topology = Topology::detect(system.root());
  EXPECT_EQ(topology.cpu_quota(), 0.2);
  EXPECT_EQ(topology.busy_threads(), 1u);

  system.write("sys/fs/cgroup/cpu.max", "100000000 100000\n");
  EXPECT_EQ(Topology::detect(system.root()).busy_threads(), topology.cpus().size());
}

}  // namespace
}  // namespace penstock
