// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/machine/cpu_set.hpp"
#include "engine/machine/fake_system.hpp"
#include "penstock/clock.hpp"
#include "penstock/device.hpp"
#include "penstock/models/devices.hpp"

namespace penstock {
namespace {

/// A machine whose cgroup is read from a folder of the test's.
struct OpenDevice : testing::Test {
  OpenDevice() { system.write("proc/self/cgroup", "0::/\n"); }
  void allow(std::string const& quota) const { system.write("sys/fs/cgroup/cpu.max", quota); }
  int compute_threads() const { return open_device("cpu", system.root())->info().compute_units; }

  FakeSystem system;
};

#ifdef PENSTOCK_LEGACY
constexpr Flavour of_this_target = Flavour::legacy;
#else
constexpr Flavour of_this_target = Flavour::per_thread;
#endif

TEST_F(OpenDevice, MeansByZeroWhatTheTargetDoesThatItIsLinkedTo) {
  EXPECT_EQ(flavour(), of_this_target);
  EXPECT_EQ(open_device("cpu", system.root())->flavour(), of_this_target);
  EXPECT_EQ(open_device("auto", system.root())->flavour(), of_this_target);
}

TEST_F(OpenDevice, ComputesOnEveryCpuThatItMayUse) {
  EXPECT_EQ(open_device("cpu", system.root())->info().kind, DeviceKind::cpu);
  EXPECT_EQ(compute_threads(), static_cast<int>(affinity_of_this_thread().size()));
}

TEST_F(OpenDevice, StartsNoMoreThreadsThanTheQuotaPaysFor) {
  allow("50000 100000\n");
  EXPECT_EQ(compute_threads(), 1);
  if (affinity_of_this_thread().size() < 2) GTEST_SKIP() << "the rest takes two CPUs";
  allow("110000 100000\n");
  EXPECT_EQ(compute_threads(), 2);
}

TEST_F(OpenDevice, TakesTheCpuDeviceOnlyWhereThereIsNoGpu) {
  auto const gpus = list_gpus();
  DeviceInfo const found = open_device("auto", system.root())->info();
  EXPECT_EQ(found.kind, gpus.empty() ? DeviceKind::cpu : DeviceKind::cuda);
}

TEST_F(OpenDevice, GuessesFromWhatTheDriverLeavesInTheSystem) {
  EXPECT_FALSE(driver_present(system.root()));
  system.write("proc/driver/nvidia/version", "");
  EXPECT_TRUE(driver_present(system.root()));
}

TEST_F(OpenDevice, RefusesNamesOfNoDeviceAndSaysWhichThereAre) {
  for (char const* wish : {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cuda:99999999999"}) {
    try {
      open_device(wish);
      ADD_FAILURE() << "'" << wish << "' was opened";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument) << wish;
      EXPECT_THAT(error.what(), testing::HasSubstr("say auto, cpu, cuda, cuda:N or model:NAME"));
    }
  }
}

/// Returns why `open` refuses; nothing, if it does not.
template <class Open>
std::string refusal(Open const& open) {
  try {
    open();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

TEST_F(OpenDevice, NamesSeveralOnlyWhereItOpensSeveral) {
  for (char const* const wish : {"all", "cuda:all", "cpu,cpu"}) {
    EXPECT_EQ(refusal([&] { open_device(wish); }), "'" + std::string(wish) +
                                                       "' may be several devices, and here it is one: say auto, cpu, "
                                                       "cuda, cuda:N or model:NAME.");
  }
  EXPECT_EQ(refusal([] { open_device("gpu"); }), "'gpu' is not a device: say auto, cpu, cuda, cuda:N or model:NAME.");
  EXPECT_EQ(refusal([] { open_devices("cpu,gpu"); }),
            "'gpu' is not a device: say auto, cpu, cuda, cuda:N or model:NAME, several of them with commas, or all.");
}

TEST_F(OpenDevice, OpensNoRealDeviceBesideAModel) {
  for (char const* const wishes : {"cpu,model:h200", "model:h200,cpu"}) {
    EXPECT_THAT(refusal([&] { open_devices(wishes); }), testing::HasSubstr("name models only"));
  }
  EXPECT_EQ(Clock::slower(), 1U) << "nothing was opened";
}

TEST_F(OpenDevice, SaysWhyThereIsNoGpuToOpen) {
  if (!list_gpus().empty()) GTEST_SKIP() << gpu_sentence();
  EXPECT_FALSE(gpu_sentence().empty());
  EXPECT_THROW(open_device("cuda"), Error);
  EXPECT_THROW(open_device("cuda:3"), Error);
}

TEST_F(OpenDevice, OpensSeveralThatShareTheThreadsOfOne) {
  auto const two = open_devices("cpu,cpu", system.root());
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two.names(), (std::vector<std::string>{"cpu:0", "cpu:1"}));
  auto const half = std::max(1, static_cast<int>(affinity_of_this_thread().size()) / 2);
  for (Device* const device : two.all()) EXPECT_EQ(device->info().compute_units, half);
  EXPECT_EQ(open_devices("cpu:0,cpu:1", system.root()).size(), 2u);
  EXPECT_EQ(open_devices("cpu", system.root()).size(), 1u);
}

TEST_F(OpenDevice, OpensAllThereAre) {
  std::size_t const gpus = list_gpus().size();
  auto const all = open_devices("all", system.root());
  EXPECT_EQ(all.size(), std::max<std::size_t>(1, gpus));
  EXPECT_EQ(all.front().info().kind, gpus == 0 ? DeviceKind::cpu : DeviceKind::cuda);
  if (gpus > 0) {
    EXPECT_EQ(open_devices("cuda:all").size(), gpus);
  } else {
    EXPECT_THROW(open_devices("cuda:all"), Error);
  }
}

TEST_F(OpenDevice, RefusesAListOfWhichOneIsNoDevice) {
  for (char const* wishes : {"", ",", "cpu,", ",cpu", "cpu,gpu", "cpu,cpu:x", "cpu, cpu"}) {
    EXPECT_THROW(open_devices(wishes, system.root()), Error) << wishes;
  }
}

TEST_F(OpenDevice, RefusesAGpuThatIsNamedTwice) {
  if (list_gpus().empty()) GTEST_SKIP() << gpu_sentence();
  EXPECT_THROW(open_devices("cuda:0,cuda"), Error);
}

}  // namespace
}  // namespace penstock
