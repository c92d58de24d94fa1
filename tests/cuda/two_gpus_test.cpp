// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "support/cuda_kernels.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/cuda/check.hpp"
#include "penstock/cuda/cuda_device.hpp"
#include "penstock/cuda/enumerate.hpp"

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

}  // namespace
}  // namespace penstock::cuda
