// SPDX-License-Identifier: Apache-2.0
// A device that is a static object, made before the first use of what all devices share, dies behind all that was made
// later.
#include <cstdlib>
#include <memory>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock {
namespace {

constexpr int asked_for = 7;

std::unique_ptr<Device> global_device;

[[noreturn]] void exit_with_a_global_device() {
  global_device = std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compute_threads = 1});
  std::exit(asked_for);
}

[[noreturn]] void exit_with_a_device_of_a_library() {
  void* const library = dlopen(PENSTOCK_LIBRARY_WITH_A_DEVICE, RTLD_NOW);
  if (library == nullptr) std::_Exit(1);
  auto const open_device = reinterpret_cast<bool (*)()>(dlsym(library, "open_the_device_of_this_library"));
  if (open_device == nullptr || !open_device()) std::_Exit(2);
  std::exit(asked_for);
}

/// Each in a program of its own, in which freed memory has other bytes than before.
struct ADeviceAtExit : testing::Test {
  ADeviceAtExit() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setenv("MALLOC_PERTURB_", "165", 1);
  }
  ~ADeviceAtExit() override { unsetenv("MALLOC_PERTURB_"); }
};

/// Seen to fail if the list of all devices is destroyed at exit.
TEST_F(ADeviceAtExit, MayBeGlobal) {
  EXPECT_EXIT(exit_with_a_global_device(), testing::ExitedWithCode(asked_for), "");
}

TEST_F(ADeviceAtExit, MayBelongToALibraryThatWasLoadedAtRunTime) {
  EXPECT_EXIT(exit_with_a_device_of_a_library(), testing::ExitedWithCode(asked_for), "");
}

}  // namespace
}  // namespace penstock
