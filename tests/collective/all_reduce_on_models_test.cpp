// SPDX-License-Identifier: Apache-2.0
// Room on modelled GPUs: what lanes leave free, and what an all-reduce takes.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/host_time.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/host_keeper.hpp"
#include "models/modelled_time.hpp"
#include "penstock/clock.hpp"
#include "penstock/collective.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::cpu {
namespace {

using namespace std::chrono_literals;

DeviceModel model_of_ten_multiprocessors() {
  DeviceModel model;
  model.name = "a GPU of the tests";
  model.link = {.up = 10, .down = 10, .both = 10, .mapped = 10, .pageable = 1, .peer = 20};
  model.kernels = {.units = 10, .threads_per_unit = 128, .memory = 100, .tera_flops = 1};
  return model;
}

/// The clock is 20 times slower. A pipeline of one lane has a stage that launches a long kernel of as many blocks as
/// it may, and a kernel of four blocks in another stream.
struct LanesOnAModel : testing::Test {
  LanesOnAModel() {
    cpu::slow_clock(20);
    device.emplace(CpuOptions{.compute_threads = 2, .time = modelled_time(model_of_ten_multiprocessors())});
  }
  struct Times {
    std::uint64_t began = 0, ended = 0;
  };
  /// When the other kernel, which is launched while the lane's is on the device, ran.
  Times times_of_other(unsigned spare, std::chrono::nanoseconds long_time) {
    Times other;
    std::atomic<bool> launched{false};
    class LongStage final : public Stage {
     public:
      LongStage(StageContext const& context, LanesOnAModel& test, std::chrono::nanoseconds time,
                std::atomic<bool>& launched)
          : blocks_(context.multiprocessors()), test_(test), time_(time), launched_(launched) {
        test.told = context.multiprocessors();
        test.told_spare = context.spare;
      }
      std::size_t run(DeviceTile const&, StreamRef stream) override {
        stream.launch(1, [](std::uint32_t) {},
                      {.time = time_, .blocks = blocks_, .began = &test_.lane.began, .ended = &test_.lane.ended});
        launched_ = true;
        return 0;
      }

     private:
      std::uint32_t const blocks_;
      LanesOnAModel& test_;
      std::chrono::nanoseconds const time_;
      std::atomic<bool>& launched_;
    };
    Pipeline pipeline(*device, {.tile = {.input_bytes = 1000}, .lanes = 1, .tuning = {.spare = spare}});
    Stream const stream = device->make_stream({.priority = greatest_priority});
    pipeline.start({.make = [&](StageContext const& context) -> std::unique_ptr<Stage> {
                     return std::make_unique<LongStage>(context, *this, long_time, launched);
                   }},
                   [](Completion&) {});
    {
      Feed feed = pipeline.feed();
      Loan loan = feed.borrow();
      loan->filled = 1000;
      feed.submit(std::move(loan));
    }
    while (!launched) std::this_thread::yield();
    HostTime::forget();  // It waited, which costs nothing.
    stream.launch(1, [](std::uint32_t) {}, {.time = 1us, .blocks = 4, .began = &other.began, .ended = &other.ended});
    stream.synchronize();
    EXPECT_TRUE(pipeline.drain().ok());
    return other;
  }

  std::optional<CpuDevice> device;
  Times lane;
  unsigned told = 0, told_spare = 0;
};

TEST_F(LanesOnAModel, LetAnotherKernelRunBesideThemIfTheyLeaveMultiprocessorsFree) {
  // Long beside what a busy machine needs to launch the other one.
  Times const other = times_of_other(4, 50ms);
  EXPECT_EQ(told, 6u);
  EXPECT_EQ(told_spare, 4u);
  EXPECT_LT(other.ended, lane.ended);
}

TEST_F(LanesOnAModel, KeepItWaitingIfTheyFillTheDevice) {
  Times const other = times_of_other(0, 2ms);
  EXPECT_EQ(told, 10u);
  EXPECT_GE(other.began, lane.ended);
}

TEST(AllReduceOnModels, TakesAsLongAsARingOnTheLinkBetweenThem) {
  cpu::slow_clock(20);
  CpuDevice first({.ordinal = 0, .compute_threads = 1, .time = modelled_time(model_of_ten_multiprocessors())});
  CpuDevice second({.ordinal = 1, .compute_threads = 1, .time = modelled_time(model_of_ten_multiprocessors())});
  DeviceGroup const devices{&first, &second};
  constexpr std::size_t count = 250;
  std::array const memory{first.allocate(4 * count), second.allocate(4 * count)};
  std::array const streams{first.make_stream({}), second.make_stream({})};
  std::vector<std::uint32_t> values(count, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    streams[i].upload(memory[i].bytes(), std::as_bytes(std::span(values)));
    streams[i].synchronize();
  }
  AllReduce<std::uint32_t> reduce(devices, ReduceOperation::sum, {.stands_for = 20'000});
  EXPECT_EQ(reduce.how(), "by kernels of 2 modelled GPUs");
  auto const part = [&](std::size_t i) {
    return AllReduce<std::uint32_t>::Part{DeviceSpan<std::byte>(memory[i].bytes()).as<std::uint32_t>(), streams[i]};
  };
  auto const began = Clock::now();
  reduce.start({part(0), part(1)});
  reduce.wait();
  EXPECT_GE(Clock::now() - began, 1ms) << "20 MB at 20 GB/s";
  streams[1].download(std::as_writable_bytes(std::span(values)), memory[1].bytes());
  streams[1].synchronize();
  EXPECT_EQ(values, std::vector<std::uint32_t>(count, 6));
}

}  // namespace
}  // namespace penstock::cpu
