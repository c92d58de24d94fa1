// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <utility>
#include <vector>

#include "support/kernels.hpp"
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"

namespace penstock::cpu {

/// Prints it for GoogleTest.
inline void PrintTo(Outstanding const& out, std::ostream* to) {  // NOLINT(readability-identifier-naming)
  *to << out.streams << " streams, " << out.events << " events, " << out.allocations << " allocations of "
      << out.allocated_bytes << " bytes, " << out.pins << " pins of " << out.pinned_bytes << " bytes";
}

/// A CPU device with four compute threads, and a piece of its memory. All that it lends must be back at the end.
struct CpuWorld : testing::Test {
  static constexpr std::size_t bytes = 4096;

  explicit CpuWorld(CpuOptions options = {.compute_threads = 4}) : device(std::move(options)) {}
  void TearDown() override {
    memory = DeviceMemory();
    EXPECT_EQ(device.outstanding(), Outstanding{});
  }
  /// Returns the kind of the Error that `call` throws; fails the test if it throws none.
  static ErrorKind kind_thrown_by(std::function<void()> const& call) {
    try {
      call();
    } catch (Error const& error) {
      return error.kind();
    }
    ADD_FAILURE() << "no Error was thrown";
    return {};
  }

  FaultyCpuDevice device;
  support::CpuKernels kernels;
  DeviceMemory memory = device.allocate(bytes);
  std::vector<std::byte> host = std::vector<std::byte>(bytes);
};

}  // namespace penstock::cpu
