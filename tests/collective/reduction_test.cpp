// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "penstock/collective.hpp"
#include "penstock/kernels.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two CPU devices, and pipelines on them. Each test ends with nothing lent.
struct ReductionOnTwoDevices : testing::Test {
  cpu::FaultyCpuDevice first{{.ordinal = 0, .compute_threads = 1}};
  cpu::FaultyCpuDevice second{{.ordinal = 1, .compute_threads = 2}};
  DeviceGroup devices{std::vector<Device*>{&first, &second}};

  void TearDown() override {
    EXPECT_EQ(first.outstanding(), cpu::Outstanding{});
    EXPECT_EQ(second.outstanding(), cpu::Outstanding{});
  }
  /// Tiles of 1000 bytes, all of them the tile's number.
  static auto some_tiles(std::uint64_t count) {
    return serial([count](Tile& tile) -> std::optional<std::size_t> {
      if (tile.sequence == count) return std::nullopt;
      std::ranges::fill(tile.input(), static_cast<std::byte>(tile.sequence));
      return 1000;
    });
  }
  /// Four lanes, two on each device.
  static PipelineOptions four_lanes() { return {.tile = {.input_bytes = 1000}, .producers = 2, .lanes = 4}; }
  static Stages counting(Reduction<std::uint64_t>& counts) {
    return counts.on_device([](DeviceTile const& tile, DeviceSpan<std::uint64_t> own, StreamRef stream) {
      count_bytes(tile.input, own, stream);
    });
  }
};

/// Stands where a lane would be, without the lane.
struct Somewhere {
  Somewhere(Device& on, unsigned number) : device(on), stream(on.make_stream()), lane(number) {}
  StageContext context() { return {device, stream, {}, lane}; }
  template <class Element>
  void add(Reduction<Element>& to, std::vector<Element> const& values) {
    Share& share = to.share(context());
    share.update(stream, [&] { stream.upload(share.array(), std::as_bytes(std::span(values))); });
    stream.synchronize();
  }

  Device& device;
  Stream stream;
  unsigned lane;
};

TEST_F(ReductionOnTwoDevices, CountsTheBytesOfAllLanes) {
  Pipeline pipeline(devices, four_lanes());
  Reduction<std::uint64_t> counts(devices, 256);
  Report const report = pipeline.run(some_tiles(512), counting(counts), [](Completion&) {});
  EXPECT_TRUE(report.ok()) << describe(report);
  auto const merged = counts.merge();
  EXPECT_EQ(merged.values.size(), 256u);
  EXPECT_THAT(merged.values, Each(2000u));
  EXPECT_EQ(merged.how, "by memory of the host, of 2 devices");
  EXPECT_THAT(merged.missing, IsEmpty());
  EXPECT_EQ(counts.merge().values, merged.values) << "lanes keep what they have";
}

TEST_F(ReductionOnTwoDevices, GoesOnCountingInTheNextRunUnlessItIsCleared) {
  Pipeline pipeline(devices, four_lanes());
  Reduction<std::uint64_t> counts(devices, 256);
  auto const run = [&] { static_cast<void>(pipeline.run(some_tiles(256), counting(counts), [](Completion&) {})); };
  run();
  run();
  EXPECT_THAT(counts.merge().values, Each(2000u));
  counts.clear();
  EXPECT_THAT(counts.merge().values, Each(0u));
  run();
  EXPECT_THAT(counts.merge().values, Each(1000u));
}

TEST_F(ReductionOnTwoDevices, CombinesFloatsByLaneAndThenByDevice) {
  Somewhere a(first, 0), b(second, 1), c(first, 2), d(second, 3);
  Reduction<float> sums(devices, 1);
  // (1e8 + 1 is 1e8 in these.) As (a + c) + (b + d) it is (1e8 - 1e8) + (1 + 1); as ((a + b) + c) + d it would be 1.
  a.add(sums, {1e8F});
  b.add(sums, {1});
  c.add(sums, {-1e8F});
  d.add(sums, {1});
  for (int again = 0; again < 3; ++again) EXPECT_THAT(sums.merge().values, ElementsAre(2));
}

TEST_F(ReductionOnTwoDevices, FindsLeastAndGreatestOfWhatWasThere) {
  Somewhere a(first, 0), b(second, 1);
  Reduction<std::int32_t> least(devices, 3, ReduceOperation::min);
  Reduction<double> greatest(devices, 2, ReduceOperation::max);
  a.add(least, {5, -7, 3});
  b.add(least, {4, 9, 3});
  a.add(greatest, {-3, -1e300});
  b.add(greatest, {-2, -2e300});
  EXPECT_THAT(least.merge().values, ElementsAre(4, -7, 3));
  EXPECT_THAT(greatest.merge().values, ElementsAre(-2, -1e300));
}

TEST_F(ReductionOnTwoDevices, MergesTheLanesOfOneDeviceOnIt) {
  Somewhere a(second, 0), b(second, 1);
  Reduction<std::uint32_t> sums(second, 2);
  a.add(sums, {1, 2});
  b.add(sums, {3, 4});
  auto const merged = sums.merge();
  EXPECT_THAT(merged.values, ElementsAre(4, 6));
  EXPECT_EQ(merged.how, "on one device");
}

TEST_F(ReductionOnTwoDevices, IsItsIdentityIfNoLaneWasMade) {
  EXPECT_THAT(Reduction<std::uint64_t>(devices, 2).merge().values, ElementsAre(0, 0));
}

TEST_F(ReductionOnTwoDevices, NamesWhatWasLostAndHasTheRest) {
  Somewhere a(first, 0), b(second, 1);
  Reduction<std::uint32_t> sums(devices, 1);
  a.add(sums, {3});
  b.add(sums, {4});
  second.abandon(Error(ErrorKind::device_lost, "It was given up."));
  auto const merged = sums.merge();
  EXPECT_THAT(merged.values, ElementsAre(3));
  EXPECT_THAT(merged.missing, ElementsAre("cpu:1: It was given up."));
  first.abandon(Error(ErrorKind::device_lost, "It was given up."));
  EXPECT_THROW(sums.merge(), Error);
}

TEST_F(ReductionOnTwoDevices, NamesADeviceThatIsLostInTheMerge) {
  Somewhere a(first, 0), b(second, 1);
  Reduction<std::uint32_t> sums(devices, 1);
  a.add(sums, {3});
  b.add(sums, {4});
  second.inject(cpu::Fault::break_download);
  auto const merged = sums.merge();
  EXPECT_THAT(merged.values, ElementsAre(3));
  ASSERT_EQ(merged.missing.size(), 1u);
  EXPECT_THAT(merged.missing[0], HasSubstr("cpu:1: "));
}

TEST_F(ReductionOnTwoDevices, MergesTheOthersAfterALaneThatGotNoMemory) {
  Somewhere a(first, 0), b(second, 1);
  Reduction<std::uint32_t> sums(devices, 1);
  a.add(sums, {3});
  second.inject(cpu::Fault::fail_allocation);
  EXPECT_THROW(sums.share(b.context()), Error);
  EXPECT_THAT(sums.merge().values, ElementsAre(3));
  b.add(sums, {4});
  EXPECT_THAT(sums.merge().values, ElementsAre(7)) << "it may ask again";
}

TEST_F(ReductionOnTwoDevices, EndsAnUpdateItselfIfItsEventIsRefused) {
  constexpr std::size_t elements = 1'000'000;
  Somewhere a(first, 0);
  Reduction<std::uint64_t> sums(first, elements, ReduceOperation::sum, {.while_running = true});
  Share& share = sums.share(a.context());
  auto const own = sums.elements(share);
  auto const add = [&] {
    for (auto const half : {own.first(elements / 2), own.subspan(elements / 2)}) {
      a.stream.launch(1, [half](KernelBlock block) {
        for (std::uint64_t& one : half.in(block)) ++one;
      });
    }
  };
  first.inject(cpu::Fault::refuse_record);
  EXPECT_THROW(share.update(a.stream, add), Error);
  EXPECT_TRUE(a.stream.idle()) << "a merge could see half of it";
  EXPECT_THAT(sums.merge().values, Each(1u));
  first.inject(cpu::Fault::refuse_record);
  EXPECT_THROW(share.update(a.stream,
                            [&] {
                              add();
                              throw std::runtime_error("The body's own.");
                            }),
               std::runtime_error);
  EXPECT_THAT(sums.merge().values, Each(2u));
}

TEST_F(ReductionOnTwoDevices, RefusesMoreElementsThanMemoryCanHave) {
  EXPECT_THROW(Reduction<std::uint64_t>(devices, (std::size_t{1} << 61) + 1), Error);
}

TEST_F(ReductionOnTwoDevices, PreparesEachLaneBeforeItsFirstTile) {
  Pipeline pipeline(devices, four_lanes());
  Reduction<std::uint64_t> counts(devices, 256);
  std::atomic<unsigned> prepared{0};
  auto const stage =
      counts.on_device([&](DeviceTile const&, DeviceSpan<std::uint64_t>, StreamRef) { EXPECT_GT(prepared, 0u); },
                       [&](StreamRef) { ++prepared; });
  EXPECT_TRUE(pipeline.run(some_tiles(8), stage, [](Completion&) {}).ok());
  EXPECT_EQ(prepared, 4u);
}

TEST_F(ReductionOnTwoDevices, RefusesALaneOfAnotherDevice) {
  Somewhere elsewhere(second, 0);
  Reduction<std::uint32_t> sums(first, 1);
  EXPECT_THROW(sums.share(elsewhere.context()), Error);
}

/// Each tile adds one to every element, by two kernels with half of them each: what is merged meanwhile has whole tiles
/// only. Seen to fail if a merge does not wait for the last update, and if updates do not wait for a merge that reads.
TEST_F(ReductionOnTwoDevices, SeesWholeTilesWhileThePipelineRuns) {
  constexpr std::size_t elements = 20'000;
  Pipeline pipeline(devices, four_lanes());
  Reduction<std::uint64_t> tiles(devices, elements, ReduceOperation::sum, {.while_running = true});
  auto const add = tiles.on_device([](DeviceTile const&, DeviceSpan<std::uint64_t> own, StreamRef stream) {
    for (auto const half : {own.first(elements / 2), own.subspan(elements / 2)}) {
      stream.launch(1, [half](KernelBlock block) {
        for (std::uint64_t& one : half.in(block)) ++one;
      });
    }
  });
  pipeline.start(add, [](Completion&) {});
  std::uint64_t submitted = 0;
  std::jthread producer([&](std::stop_token const& enough) {
    auto feed = pipeline.feed();
    for (; !enough.stop_requested(); ++submitted) feed.submit(feed.borrow());
  });
  std::uint64_t last = 0;
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (int merge = 0; merge < 50 || (last == 0 && std::chrono::steady_clock::now() < end); ++merge) {
    auto const now = tiles.merge().values;
    EXPECT_THAT(now, Each(now[0]));
    EXPECT_GE(now[0], last) << "it counts up";
    last = now[0];
  }
  EXPECT_GT(last, 0u) << "no tile came in half a minute";
  producer.request_stop();
  producer.join();
  EXPECT_TRUE(pipeline.drain().ok());
  EXPECT_THAT(tiles.merge().values, Each(submitted));
}

}  // namespace
}  // namespace penstock
