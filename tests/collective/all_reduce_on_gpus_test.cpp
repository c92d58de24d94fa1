// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/cuda_kernels.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/nccl.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"
#include "penstock/collective.hpp"

namespace penstock::cuda {
namespace {

using testing::HasSubstr;

/// All GPUs, two at least, with an array of the device's number on each; the test is skipped where there are not two.
struct AllReduceOnGpus : testing::Test {
  static constexpr std::size_t count = 1'000'003;

  void SetUp() override {
    if (device_count() < 2) GTEST_SKIP() << "this takes two GPUs";
    std::vector<std::unique_ptr<Device>> opened;
    for (int gpu = 0; gpu < device_count(); ++gpu) opened.push_back(std::make_unique<CudaDevice>(gpu));
    devices.emplace(std::move(opened));
    for (std::size_t i = 0; i < devices->size(); ++i) {
      Device& device = *devices->all()[i];
      device.attach();
      streams.push_back(device.make_stream());
      memory.push_back(device.allocate(count * sizeof(float)));
      std::vector<float> const values(count, static_cast<float>(i + 1));
      streams[i].upload(memory[i].bytes(), std::as_bytes(std::span(values)));
      streams[i].synchronize();
    }
  }
  void TearDown() override {
    if (!devices) return;
    EXPECT_FALSE(devices->lost());
  }
  std::vector<AllReduce<float>::Part> parts() const {
    std::vector<AllReduce<float>::Part> all;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      all.push_back({DeviceSpan<std::byte>(memory[i].bytes()).as<float>().first(count), streams[i]});
    }
    return all;
  }
  /// Expects the sums of `times` all-reduces.
  void expect_sums(int times = 1) {
    auto const n = static_cast<float>(streams.size());
    float sum = n * (n + 1) / 2;
    for (int i = 1; i < times; ++i) sum *= n;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      devices->all()[i]->attach();
      std::vector<float> values(count);
      streams[i].download(std::as_writable_bytes(std::span(values)), memory[i].bytes());
      streams[i].synchronize();
      EXPECT_EQ(values, std::vector<float>(count, sum)) << i;
    }
  }
  static bool nccl_is_there() {
    try {
      static_cast<void>(Nccl::open({0}));
      return true;
    } catch (Error const&) {
      return false;
    }
  }

  std::optional<Devices> devices;
  std::vector<Stream> streams;
  std::vector<DeviceMemory> memory;
};

TEST_F(AllReduceOnGpus, ByMemoryOfTheHostGivesAllOfThemTheSums) {
  AllReduce<float> reduce(*devices, ReduceOperation::sum, {.nccl = false});
  reduce.start(parts());
  reduce.wait();
  expect_sums();
}

TEST_F(AllReduceOnGpus, ByNcclGivesAllOfThemTheSums) {
  if (!nccl_is_there()) GTEST_SKIP() << "there is no NCCL here";
  for (unsigned const blocks : {0U, 1U, 8U}) {
    SCOPED_TRACE(blocks);
    AllReduce<float> reduce(*devices, ReduceOperation::sum, {.blocks = blocks});
    EXPECT_THAT(reduce.how(), HasSubstr("by NCCL"));
    reduce.start(parts());
    reduce.wait();
    if (blocks == 0) expect_sums();
  }
}

TEST_F(AllReduceOnGpus, RunsBesideAKernelThatLeavesItRoom) {
  if (!nccl_is_there()) GTEST_SKIP() << "there is no NCCL here";
  support::CudaKernels const kernels;
  if (!kernels.run_beside_each_other()) GTEST_SKIP() << "here no kernel runs beside another";
  AllReduce<float> reduce(*devices, ReduceOperation::sum, {.blocks = 8});
  // The first one loads what it has to load.
  reduce.start(parts());
  reduce.wait();
  std::vector<Stream> others;
  std::vector<support::Hold> holds;
  for (Device* const device : devices->all()) {
    device->attach();
    others.push_back(device->make_stream());
    holds.push_back(kernels.hold(others.back()));
    holds.back().await_reached();
  }
  reduce.start(parts());
  reduce.wait();
  for (support::Hold& hold : holds) hold.open();
  expect_sums(2);
  for (std::size_t i = 0; i < others.size(); ++i) {
    devices->all()[i]->attach();
    others[i].synchronize();
  }
  holds.clear();
  kernels.give_back();
}

}  // namespace
}  // namespace penstock::cuda
