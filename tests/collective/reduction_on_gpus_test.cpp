// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/nccl.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"
#include "penstock/collective.hpp"
#include "penstock/kernels.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::cuda {
namespace {

using testing::HasSubstr;

/// All GPUs, two at least, and a pipeline of two lanes on each; the test is skipped where there are not two.
struct ReductionOnGpus : testing::Test {
  static constexpr std::size_t bytes = std::size_t{1} << 20;
  static constexpr std::uint64_t tiles = 512;

  void SetUp() override {
    if (device_count() < 2) GTEST_SKIP() << "this takes two GPUs";
    std::vector<std::unique_ptr<Device>> opened;
    for (int gpu = 0; gpu < device_count(); ++gpu) opened.push_back(std::make_unique<CudaDevice>(gpu));
    devices.emplace(std::move(opened));
  }
  void TearDown() override {
    if (!devices) return;
    EXPECT_FALSE(devices->lost());
  }
  PipelineOptions two_lanes_each() const {
    return {.tile = {.input_bytes = bytes}, .producers = 2, .lanes = 2 * static_cast<unsigned>(devices->size())};
  }
  static std::optional<std::size_t> fill(Tile& tile) {
    if (tile.sequence == tiles) return std::nullopt;
    std::ranges::fill(tile.input(), static_cast<std::byte>(tile.sequence));
    return bytes;
  }
  /// Counts by NCCL or the host; `how` must tell of which.
  std::vector<std::uint64_t> counted(ReductionOptions const& options, std::string const& how) {
    Pipeline pipeline(*devices, two_lanes_each());
    Reduction<std::uint64_t> counts(*devices, 256, ReduceOperation::sum, options);
    auto const stage = counts.on_device([](DeviceTile const& tile, DeviceSpan<std::uint64_t> own, StreamRef stream) {
      count_bytes(tile.input, own, stream);
    });
    Report const report = pipeline.run(serial(fill), stage, [](Completion&) {});
    EXPECT_TRUE(report.ok()) << describe(report);
    for (DeviceSummary const& one : report.devices) EXPECT_GT(one.tiles, 0u) << one.name;
    auto const merged = counts.merge();
    EXPECT_THAT(merged.how, HasSubstr(how));
    EXPECT_EQ(merged.missing.size(), 0u);
    return merged.values;
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
};

TEST_F(ReductionOnGpus, ByMemoryOfTheHostCountsEveryByte) {
  EXPECT_THAT(counted({.nccl = false}, "by memory of the host"), testing::Each(tiles / 256 * bytes));
}

TEST_F(ReductionOnGpus, ByNcclCountsEveryByte) {
  if (!nccl_is_there()) GTEST_SKIP() << "there is no NCCL here";
  EXPECT_THAT(counted({}, "by NCCL"), testing::Each(tiles / 256 * bytes));
}

TEST_F(ReductionOnGpus, ByNcclIsTheSameForEveryTypeAndOperation) {
  if (!nccl_is_there()) GTEST_SKIP() << "there is no NCCL here";
  auto const both_ways = [&]<class Element>(Element) {
    for (auto const operation : {ReduceOperation::sum, ReduceOperation::min, ReduceOperation::max}) {
      std::vector<std::vector<Element>> found;
      for (bool const nccl : {true, false}) {
        Reduction<Element> reduction(*devices, 1000, operation, {.nccl = nccl});
        for (unsigned lane = 0; lane < devices->size(); ++lane) {
          devices->all()[lane]->attach();
          Stream const stream = devices->all()[lane]->make_stream();
          std::vector<Element> values(1000);
          for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Element>((i * 37 + lane * 11) % 100);
          stream.upload(reduction.share({*devices->all()[lane], stream, {}, lane}).array(),
                        std::as_bytes(std::span(values)));
          stream.synchronize();
        }
        found.push_back(reduction.merge().values);
      }
      EXPECT_EQ(found[0], found[1]);
    }
  };
  both_ways(std::uint32_t{});
  both_ways(std::int32_t{});
  both_ways(std::uint64_t{});
  both_ways(std::int64_t{});
  both_ways(float{});
  both_ways(double{});
}

/// Each tile adds one to all values' counts: what is merged while the pipeline runs has whole tiles only.
TEST_F(ReductionOnGpus, SeesWholeTilesWhileThePipelineRuns) {
  std::vector<std::byte> each_value(bytes);
  for (std::size_t i = 0; i < bytes; ++i) each_value[i] = static_cast<std::byte>(i);
  Pipeline pipeline(*devices, two_lanes_each());
  Reduction<std::uint64_t> counts(*devices, 256, ReduceOperation::sum, {.while_running = true});
  auto const stage = counts.on_device([](DeviceTile const& tile, DeviceSpan<std::uint64_t> own, StreamRef stream) {
    count_bytes(tile.input, own, stream);
  });
  pipeline.start(stage, [](Completion&) {});
  std::jthread producer([&](std::stop_token const& enough) {
    auto feed = pipeline.feed();
    while (!enough.stop_requested()) {
      Loan loan = feed.borrow();
      std::ranges::copy(each_value, loan->input().begin());
      loan->filled = bytes;
      feed.submit(std::move(loan));
    }
  });
  std::uint64_t last = 0;
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (int merge = 0; merge < 50 || (last == 0 && std::chrono::steady_clock::now() < end); ++merge) {
    auto const now = counts.merge().values;
    EXPECT_THAT(now, testing::Each(now[0]));
    EXPECT_GE(now[0], last);
    last = now[0];
  }
  EXPECT_GT(last, 0u) << "no tile came in half a minute";
  producer.request_stop();
  producer.join();
  EXPECT_TRUE(pipeline.drain().ok());
}

}  // namespace
}  // namespace penstock::cuda
