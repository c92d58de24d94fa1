// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "support/cuda_kernels.hpp"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/cuda/check.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"

namespace penstock::cuda {
namespace {

using testing::Each;

/// The first two GPUs, and memory of the host; the test is skipped where there are not two.
struct TwoGpus : testing::Test {
  static constexpr std::size_t bytes = std::size_t{4} << 20;

  void SetUp() override {
    support::let_many_streams_run_at_once();
    if (device_count() < 2) GTEST_SKIP() << "this takes two GPUs";
    first.emplace(0);
    second.emplace(1);
  }
  void TearDown() override {
    if (!second) return;
    second->synchronize();
    kernels.give_back();
    for (auto* const gpu : {&*first, &*second}) EXPECT_FALSE(gpu->lost());
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }

  std::unique_ptr<std::byte, decltype(&std::free)> const start{
      static_cast<std::byte*>(std::aligned_alloc(std::size_t{1} << 16, bytes)), &std::free};
  std::span<std::byte> const host{start.get(), bytes};
  std::optional<CudaDevice> first, second;
  support::CudaKernels kernels;
};

TEST_F(TwoGpus, CopyWithoutTheirCallerWhatEitherHasPinned) {
  std::ranges::fill(host, std::byte{1});
  Pinned const pinned = first->pin(host);
  DeviceMemory const there = second->allocate(bytes);
  Stream const stream = second->make_stream();
  kernels.add_one(stream, there.bytes());  // Loads the kernels, so that later launches do not wait.
  kernels.hold(stream).open();
  stream.synchronize();
  auto still = kernels.hold(stream);
  // Were the memory not pinned for this GPU, the caller would be kept here until the hold gives up, which fails the
  // test.
  stream.upload(there.bytes(), host);
  kernels.add_one(stream, there.bytes());
  stream.download(host, there.bytes());
  EXPECT_FALSE(stream.idle());
  still.open();
  stream.synchronize();
  EXPECT_THAT(host, Each(std::byte{2}));
}

TEST_F(TwoGpus, UnpinMemoryWhicheverIsCurrent) {
  std::ranges::fill(host, std::byte{1});
  {
    Pinned const pinned = first->pin(host);
    second->attach();
  }
  EXPECT_NO_THROW(static_cast<void>(second->pin(host)));
}

/// Returns true if the process has a context on this GPU, as the driver says.
bool has_context(int ordinal) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  using State = int (*)(int, unsigned*, int*);
  auto const state =
      driver != nullptr ? reinterpret_cast<State>(dlsym(driver, "cuDevicePrimaryCtxGetState")) : State{nullptr};
  unsigned flags = 0;
  int active = -1;
  if (state == nullptr || state(ordinal, &flags, &active) != 0) return false;
  return active != 0;
}

/// Uses the second GPU alone, by a thread that has chosen none, of which the first is said to be the current one. It
/// does so in a process of its own, where no other test has used the first.
[[noreturn]] void ask_of_the_second() {
  alarm(60);
  int failed = 0;
  CudaDevice second(1);
  if (!has_context(1) || has_context(0)) failed = 2;
  std::thread([&] {
    if (second.lost()) failed = 3;
    int current = -1;
    if (cudaGetDevice(&current) != cudaSuccess || current != 0) failed = 4;
  }).join();
  if (has_context(0)) failed = 5;
  std::_Exit(failed);
}

TEST(ASecondGpu, IsAskedHowItIsWithoutAContextOnTheFirst) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if (device_count() < 2) GTEST_SKIP() << "this takes two GPUs";
  EXPECT_EXIT(ask_of_the_second(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace penstock::cuda
