// SPDX-License-Identifier: Apache-2.0
#include "models/modelled_time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/core/host_time.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/host_keeper.hpp"

namespace penstock::cpu {
namespace {

using namespace std::chrono_literals;

/// A modelled machine with two nodes, which copies a megabyte of the near one in 100 us, and a pinned megabyte.
struct TwoNodes : testing::Test {
  static DeviceModel model() {
    DeviceModel model;
    model.link = {.up = 10, .down = 10, .both = 10, .mapped = 10, .pageable = 1, .far = 5, .far_down = 2};
    model.kernels = {.units = 1, .threads_per_unit = 128, .memory = 100, .tera_flops = 1};
    model.host_nodes = 2;
    return model;
  }
  TwoNodes() {
    slow_clock(20);
    device = std::make_unique<CpuDevice>(CpuOptions{.compute_threads = 1, .time = modelled_time(model())});
    pinned = device->pin({pages.get(), size});
    there = device->allocate(size);
  }
  ~TwoNodes() override {
    pinned = {};
    there = {};
    EXPECT_EQ(device->outstanding(), Outstanding{});
  }

  std::span<std::byte> here() const { return {pages.get(), megabyte}; }
  /// The time of a copy that is there before its stream goes on, also where this thread is held up.
  std::chrono::nanoseconds copy(bool up) {
    Stream const stream = device->make_stream();
    Event const before = device->make_event({.timing = true}), after = device->make_event({.timing = true});
    stream.launch(1, [](std::uint32_t) {}, {.time = 50ms});
    stream.record(before);
    up ? stream.upload(there.bytes().first(megabyte), here()) : stream.download(here(), there.bytes().first(megabyte));
    stream.record(after);
    stream.synchronize();
    return after.since(before).value();
  }

  static constexpr std::size_t size = std::size_t{1} << 20, megabyte = 1'000'000;
  std::unique_ptr<std::byte, decltype(&std::free)> pages{static_cast<std::byte*>(std::aligned_alloc(4096, size)),
                                                         std::free};
  std::unique_ptr<CpuDevice> device;
  Pinned pinned;
  DeviceMemory there;
};

/// Seen to fail with memory that is not touched: then the first copies take the time of its pages.
TEST_F(TwoNodes, HaveAGpuWhoseMemoryIsThereOnceItIsAllocated) {
  DeviceMemory const memory = device->allocate(8 * megabyte);
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* const first =
      memory.bytes().data() + (page - reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % page);
  std::vector<unsigned char> present(7 * megabyte / page);
  ASSERT_EQ(mincore(first, present.size() * page, present.data()), 0);
  for (unsigned char const each : present) ASSERT_EQ(each & 1, 1);
}

TEST_F(TwoNodes, HaveMemoryOnThatOfTheDeviceUnlessItIsPlaced) {
  EXPECT_EQ(device->info().host_nodes, 2U);
  EXPECT_EQ(copy(true), 100us);
  device->place(here(), 1);
  EXPECT_EQ(copy(true), 200us);
  EXPECT_EQ(copy(false), 500us);
  device->place(here(), 0);
  EXPECT_EQ(copy(true), 100us);
}

TEST_F(TwoNodes, ForgetAPlaceWithItsPin) {
  device->place(here(), 1);
  pinned = {};
  pinned = device->pin({pages.get(), size});
  EXPECT_EQ(copy(true), 100us);
}

TEST_F(TwoNodes, HaveNoOthersAndOnlyPinnedMemory) {
  auto const refused = [&](std::span<std::byte const> memory, int node) {
    try {
      device->place(memory, node);
    } catch (Error const& error) {
      return error.kind() == ErrorKind::bad_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused(here(), 2));
  EXPECT_TRUE(refused(here(), -1));
  std::byte const own{};
  EXPECT_TRUE(refused({&own, 1}, 1));
  EXPECT_TRUE(refused({}, 1));
}

TEST(OneNode, HasMemoryWhereItsPagesAre) {
  CpuDevice device(CpuOptions{.compute_threads = 1});
  try {
    device.place({}, 0);
    FAIL() << "it is no model";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  }
}

/// Keeps the calling thread busy for 2 ms of the system's time.
void work() {
  auto const cpu_time = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  for (auto const began = cpu_time(); cpu_time() - began < 2ms;) {
  }
}

TEST_F(TwoNodes, HaveTheHostsWorkBehindThemOnceTheyMadeSomething) {
  pinned = {};
  there = {};
  std::vector<std::function<void()>> const calls{[&] { device->make_stream(); }, [&] { device->make_event(); },
                                                 [&] { there = device->allocate(size); },
                                                 [&] {
                                                   device->pin({pages.get(), size});
                                                 }};
  for (auto const& call : calls) {
    HostTime::pay();
    auto const began = Clock::now();
    work();
    call();
    EXPECT_GE(Clock::now() - began, 1900us) << "what comes next is not charged with it: call " << &call - calls.data();
  }
}

}  // namespace
}  // namespace penstock::cpu
