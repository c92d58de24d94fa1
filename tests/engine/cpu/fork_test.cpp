// SPDX-License-Identifier: Apache-2.0
#include "support/child_of_fork.hpp"
#include "support/gate.hpp"
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock::cpu {
namespace {

/// Seen to fail where the child's stream waited for a kernel, which no thread of the child runs.
TEST(AChildOfForkWithACpuDevice, LeavesWhatTheDeviceLentToItsParent) {
  CpuDevice device({.compute_threads = 1});
  support::Gate gate;
  Stream stream = device.make_stream();
  Event event = device.make_event();
  DeviceMemory memory = device.allocate(64);
  DeviceMemory freed = stream.allocate(64);
  stream.launch(1, [&](KernelBlock const&) { gate.pass(); });
  stream.record(event);
  EXPECT_EQ(support::exit_code_of_child_that_destroys(freed, memory, event, stream, device), 7);
  gate.open();
  event.wait();
}

}  // namespace
}  // namespace penstock::cpu
