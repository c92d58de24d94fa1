// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/probe.hpp"

#include <cstdio>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cuda/cuda_device.hpp"

namespace penstock::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// A machine with a driver of the right age and one GPU, on which things may then be missing.
struct AMachine : testing::Test {
  Findings found{.answer = cudaSuccess,
                 .gpus = 1,
                 .gpus_on_bus = 1,
                 .driver_version = 13000,
                 .runtime_version = 13000,
                 .visible_devices = std::nullopt};

  /// A verdict without a GPU always names the way out that needs none.
  void expect(Reach reach, ErrorKind kind) {
    Probe const verdict = judge(found);
    EXPECT_EQ(verdict.reach, reach);
    EXPECT_EQ(verdict.gpus, 0);
    EXPECT_EQ(verdict.error().kind(), kind);
    EXPECT_THAT(verdict.sentence, HasSubstr("--device cpu"));
  }
};

TEST_F(AMachine, IsUsableWithDriverAndGpu) {
  Probe const verdict = judge(found);
  EXPECT_TRUE(verdict.usable());
  EXPECT_EQ(verdict.gpus, 1);
}

TEST_F(AMachine, WithoutADriverSaysSo) {
  found = {.answer = cudaErrorInsufficientDriver, .runtime_version = 13000};
  expect(Reach::no_driver, ErrorKind::no_driver);
  EXPECT_THAT(judge(found).sentence, HasSubstr("No NVIDIA driver is installed, and no NVIDIA GPU was found."));
}

TEST_F(AMachine, WithAGpuButNoDriverIsToldToInstallOne) {
  found = {.answer = cudaErrorInsufficientDriver, .gpus_on_bus = 2, .runtime_version = 13000};
  expect(Reach::no_driver, ErrorKind::no_driver);
  EXPECT_THAT(judge(found).sentence, HasSubstr("no NVIDIA driver for the 2 GPUs on the bus: install it"));
}

TEST_F(AMachine, WithAnOldDriverSaysBothVersions) {
  found.answer = cudaErrorInsufficientDriver;
  found.gpus = 0;
  found.driver_version = 12040;
  expect(Reach::driver_too_old, ErrorKind::driver_too_old);
  EXPECT_THAT(judge(found).sentence, AllOf(HasSubstr("12.4"), HasSubstr("13.0"), HasSubstr("update the driver")));
}

TEST_F(AMachine, WithADriverButNoGpuSaysSo) {
  found.answer = cudaErrorNoDevice;
  found.gpus = found.gpus_on_bus = 0;
  expect(Reach::no_gpu, ErrorKind::no_device);
  EXPECT_THAT(judge(found).sentence, AllOf(HasSubstr("finds no GPU"), Not(HasSubstr("CUDA_VISIBLE_DEVICES"))));
}

TEST_F(AMachine, WhoseGpusAreHiddenIsToldByWhat) {
  found.answer = cudaErrorNoDevice;
  found.gpus = 0;
  found.visible_devices = "7";
  expect(Reach::hidden, ErrorKind::no_device);
  EXPECT_THAT(judge(found).sentence, AllOf(HasSubstr("CUDA_VISIBLE_DEVICES is '7'"), HasSubstr("unset it")));
}

TEST_F(AMachine, WhoseGpuIsNotOfferedIsToldWhy) {
  found.answer = cudaErrorSystemNotReady;
  found.gpus = 0;
  expect(Reach::unusable, ErrorKind::no_device);
  EXPECT_THAT(judge(found).sentence, AllOf(HasSubstr("cudaErrorSystemNotReady"), HasSubstr("nvidia-fabricmanager")));
}

TEST(VersionText, IsMajorAndMinor) {
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(12080), "12.8");
  EXPECT_EQ(version_text(0), "");
}

/// Whatever machine the tests run on; these hold on all of them.
struct ThisMachine : testing::Test {
  Probe const verdict = probe();
};

TEST_F(ThisMachine, IsJudgedInASentence) {
  EXPECT_TRUE(verdict.sentence.ends_with('.') || verdict.sentence.ends_with(").")) << verdict.sentence;
  EXPECT_EQ(verdict.usable(), verdict.gpus > 0);
}

TEST_F(ThisMachine, ListsAsManyGpusAsItCounts) {
  EXPECT_EQ(device_count(), verdict.gpus);
  EXPECT_THAT(list(), SizeIs(static_cast<std::size_t>(verdict.gpus)));
}

TEST_F(ThisMachine, RefusesAGpuThatItDoesNotHave) {
  try {
    CudaDevice const device(verdict.gpus);
    FAIL() << "made GPU " << verdict.gpus;
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), verdict.usable() ? ErrorKind::no_device : verdict.error().kind());
    EXPECT_THAT(error.what(), HasSubstr(verdict.usable() ? "There is no GPU" : verdict.sentence));
  }
}

TEST(HiddenGpus, AreSaidToBeHidden) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // It has a process of its own, since CUDA reads the variable once.
  auto const look_without_gpus = [] {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    Probe const verdict = probe();
    std::fputs(verdict.sentence.c_str(), stderr);
    bool const without_driver = verdict.reach == Reach::no_driver;
    std::_Exit(verdict.reach == Reach::hidden || without_driver ? 0 : 1);
  };
  EXPECT_EXIT(look_without_gpus(), testing::ExitedWithCode(0), "CUDA_VISIBLE_DEVICES is ''|no NVIDIA");
}

TEST_F(ThisMachine, WithoutADriverSaysThatNoneIsInstalled) {
  if (look().driver_version != 0) GTEST_SKIP() << "there is a driver: " << verdict.sentence;
  EXPECT_EQ(verdict.reach, Reach::no_driver);
  EXPECT_EQ(verdict.error().kind(), ErrorKind::no_driver);
  EXPECT_THROW(check(cudaSetDevice(0), "cudaSetDevice"), Error);
  EXPECT_EQ(kind_of(cudaErrorInsufficientDriver), ErrorKind::no_driver);
}

}  // namespace
}  // namespace penstock::cuda
