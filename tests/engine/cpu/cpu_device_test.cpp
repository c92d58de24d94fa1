// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/cpu_device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support/calls.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_world.hpp"

namespace penstock::cpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string words_of(std::function<void()> const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

/// Two 64 KiB pages of a host, and a device that may lend no more memory and pin no more than that.
struct SmallDevice : CpuWorld {
  static constexpr std::size_t page = std::size_t{1} << 16;
  SmallDevice() : CpuWorld({.compute_threads = 1, .memory_bytes = 2 * page, .pinned_bytes = 2 * page}) {}
  std::unique_ptr<std::byte, decltype(&std::free)> const pages{
      static_cast<std::byte*>(std::aligned_alloc(page, 4 * page)), &std::free};
  std::span<std::byte> const region{pages.get(), 4 * page};
};

TEST_F(SmallDevice, SaysHowMuchMemoryWasAskedForAndHowMuchIsFree) {
  EXPECT_EQ(device.info().memory_bytes, 2 * page);
  EXPECT_EQ(device.info().memory_free, 2 * page - bytes);
  EXPECT_THAT(words_of([&] { device.allocate(2 * page); }),
              AllOf(HasSubstr("allocate 128 KiB: 124 KiB of its 128 KiB"), HasSubstr("smaller tiles")));
}

TEST_F(SmallDevice, LendsMemoryAgainThatCameBack) {
  std::size_t const rest = device.info().memory_free;
  for (int i = 0; i < 3; ++i) {
    DeviceMemory const all = device.allocate(rest);
    EXPECT_EQ(device.info().memory_free, 0u);
    EXPECT_EQ(kind_thrown_by([&] { device.allocate(1); }), ErrorKind::out_of_device_memory);
  }
  EXPECT_EQ(device.info().memory_free, rest);
}

TEST_F(SmallDevice, LendsAStreamAtOnceWhatItFreed) {
  std::size_t const rest = device.info().memory_free;
  Stream const own = device.make_stream(), other = device.make_stream();
  auto still = kernels.hold(own);
  std::byte const* const place = own.allocate(rest).bytes().data();
  EXPECT_EQ(device.info().memory_free, 0u) << "the stream has not got to where it was freed";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(own.allocate(rest - 1).bytes().data(), place);
  EXPECT_EQ(own.allocate(1).bytes().data(), place) << "there is no other memory";
  for (auto const& elsewhere : {std::function<void()>([&] { other.allocate(1); }), {[&] { device.allocate(1); }}}) {
    EXPECT_EQ(kind_thrown_by(elsewhere), ErrorKind::out_of_device_memory);
    EXPECT_THAT(words_of(elsewhere), HasSubstr("Streams have freed 124 KiB more"));
  }
  EXPECT_EQ(device.outstanding().allocations, 1u) << "nobody owns what was freed";
  still.open();
  own.synchronize();
  EXPECT_EQ(device.info().memory_free, rest);
  EXPECT_EQ(other.allocate(rest).bytes().size(), rest);
}

TEST_F(SmallDevice, LeavesALargeBlockToWhatNeedsIt) {
  Stream const own = device.make_stream();
  auto still = kernels.hold(own);
  std::byte const* const place = own.allocate(page).bytes().data();
  DeviceMemory const little = own.allocate(256);
  EXPECT_NE(little.bytes().data(), place);
  EXPECT_EQ(own.allocate(page).bytes().data(), place);
  still.open();
}

TEST(CpuDevice, LendsStreamsOfManyThreadsOnlyMemoryThatOthersAreThroughWith) {
  constexpr std::size_t bytes = 4096;
  CpuDevice device({.compute_threads = 2, .memory_bytes = 2 * bytes});
  std::atomic<std::size_t> wrong{0}, done{0};
  auto const use = [&](std::byte value) {
    Stream const own = device.make_stream();
    for (int i = 0; i < 100; ++i) {
      try {
        DeviceMemory const ordered = own.allocate(bytes);
        auto const there = ordered.bytes();
        own.launch(1, [=](std::uint32_t) { std::ranges::fill(there, value); });
        own.launch(1, [=, &wrong](std::uint32_t) {
          wrong += bytes - static_cast<std::size_t>(std::ranges::count(there, value));
        });
        ++done;
      } catch (Error const& refused) {
        if (refused.kind() != ErrorKind::out_of_device_memory) throw;
        own.synchronize();
      }
      // Others may have what it freed only now.
      if (i % 4 == 0) std::this_thread::yield();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i <= 3; ++i) threads.emplace_back(use, std::byte(i));
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GE(done, 100u);
  EXPECT_EQ(device.outstanding(), Outstanding{});
}

TEST(CpuDevice, MeansByZeroTheStreamOfTheFlavourItWasMadeFor) {
  CpuDevice legacy({.compute_threads = 1, .flavour = Flavour::legacy});
  EXPECT_EQ(legacy.flavour(), Flavour::legacy);
  EXPECT_EQ(legacy.thread_default_stream(), legacy.legacy_default_stream());
  CpuDevice per_thread({.compute_threads = 1});
  EXPECT_EQ(per_thread.flavour(), Flavour::per_thread);
  EXPECT_EQ(per_thread.thread_default_stream(), per_thread.per_thread_default_stream());
}

TEST_F(SmallDevice, PinsUpToItsLimitAndSaysWhichToRaise) {
  Pinned const one = device.pin(region.first(page));
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region.subspan(page, 2 * page)); }), ErrorKind::out_of_pinned_memory);
  EXPECT_THAT(words_of([&] { device.pin(region.subspan(page, 2 * page)); }),
              AllOf(HasSubstr("pin 128 KiB: 64 KiB of 128 KiB"), HasSubstr("pinned_bytes")));
  Pinned const neighbour = device.pin(region.subspan(page, page));
  EXPECT_EQ(device.outstanding().pinned_bytes, 2 * page);
}

TEST_F(SmallDevice, PinsNoPageTwice) {
  Pinned const middle = device.pin(region.subspan(page, 2 * page));
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region.first(2 * page)); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region.subspan(page, page)); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region.subspan(2 * page, 2 * page)); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region); }), ErrorKind::bad_argument);
}

TEST_F(SmallDevice, PinsWholePagesOnly) {
  EXPECT_EQ(kind_thrown_by([&] { device.pin({}); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region.subspan(1, page)); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region.first(page + 1)); }), ErrorKind::bad_argument);
}

struct DefaultDevice : CpuWorld {
  DefaultDevice() : CpuWorld(CpuOptions{}) {}
};

TEST_F(DefaultDevice, DescribesItself) {
  DeviceInfo const info = device.info();
  EXPECT_EQ(info.kind, DeviceKind::cpu);
  EXPECT_EQ(info.name, "CPU device");
  EXPECT_EQ(info.copy_engines, 2);
  EXPECT_GE(info.compute_units, 1);
  EXPECT_EQ(info.least_priority, 0);
  EXPECT_EQ(info.greatest_priority, -5);
  EXPECT_EQ(info.memory_free, info.memory_bytes - bytes);
}

TEST_F(DefaultDevice, CopiesOnlyToAndFromItsOwnMemory) {
  CpuDevice other({.compute_threads = 1});
  DeviceMemory const foreign = other.allocate(bytes);
  Stream const stream = device.make_stream();
  EXPECT_EQ(kind_thrown_by([&] { stream.upload(foreign.bytes(), host); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { stream.download(host, foreign.bytes()); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { stream.upload(host, host); }), ErrorKind::bad_argument);
  std::span const beyond(memory.bytes().data() + 1, bytes);
  EXPECT_EQ(kind_thrown_by([&] { stream.upload(beyond, host); }), ErrorKind::bad_argument);
  EXPECT_NO_THROW(stream.upload(memory.bytes().last(1), std::span(host).first(1)));
  stream.synchronize();
}

TEST_F(DefaultDevice, CopiesFromDeviceToDeviceOnlyMemoryOfDevices) {
  CpuDevice other({.compute_threads = 1});
  DeviceMemory const foreign = other.allocate(bytes);
  DeviceMemory const foreign_too = other.allocate(bytes);
  Stream const stream = device.make_stream();
  EXPECT_EQ(kind_thrown_by([&] { stream.copy(memory.bytes(), std::span(host)); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { stream.copy(std::span(host), memory.bytes()); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { stream.copy(foreign.bytes(), foreign_too.bytes()); }), ErrorKind::bad_argument);
  std::span const beyond(foreign.bytes().data() + 1, bytes);
  EXPECT_EQ(kind_thrown_by([&] { stream.copy(memory.bytes(), beyond); }), ErrorKind::bad_argument);
  EXPECT_NO_THROW(stream.copy(memory.bytes(), foreign.bytes()));
  EXPECT_NO_THROW(stream.copy(foreign.bytes(), memory.bytes()));
  stream.synchronize();
}

TEST_F(DefaultDevice, RecordsItsOwnEventsOnly) {
  CpuDevice other({.compute_threads = 1});
  Event const foreign = other.make_event({.timing = true});
  Event const own = device.make_event({.timing = true});
  Stream const stream = device.make_stream();
  EXPECT_EQ(kind_thrown_by([&] { stream.record(foreign); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { own.since(foreign); }), ErrorKind::bad_argument);
}

TEST_F(DefaultDevice, TellsNoTimeWithoutTiming) {
  Event const untimed = device.make_event();
  Event const timed = device.make_event({.timing = true});
  EXPECT_EQ(kind_thrown_by([&] { timed.since(untimed); }), ErrorKind::bad_argument);
}

TEST_F(DefaultDevice, RefusesLaunchesOfNothing) {
  Stream const stream = device.make_stream();
  EXPECT_EQ(kind_thrown_by([&] { stream.launch(0, [](std::uint32_t) {}); }), ErrorKind::bad_argument);
  EXPECT_EQ(kind_thrown_by([&] { stream.launch(1, nullptr); }), ErrorKind::bad_argument);
}

TEST_F(DefaultDevice, RefusesToBeWithoutACallbackThread) {
  EXPECT_EQ(kind_thrown_by([] { CpuDevice({.callback_threads = 0}); }), ErrorKind::bad_argument);
}

TEST_F(DefaultDevice, FinishesTheWorkOfItsDefaultStreamsWhenItDies) {
  std::atomic<int> ran{0};
  support::Calls calls;
  support::NotedCallback callback(calls, 1);
  {
    CpuDevice own({.compute_threads = 2});
    own.legacy_default_stream().launch(100, [&](std::uint32_t) { ++ran; });
    own.thread_default_stream().launch(100, [&](std::uint32_t) { ++ran; });
    own.thread_default_stream().call(callback);
  }
  EXPECT_EQ(ran, 200);
  EXPECT_EQ(calls.count(), 1u);
}

TEST_F(DefaultDevice, CountsWhatItHasLent) {
  Stream const stream = device.make_stream();
  Event const event = device.make_event();
  device.thread_default_stream().synchronize();
  EXPECT_EQ(device.outstanding(), (Outstanding{.streams = 1, .events = 1, .allocations = 1, .allocated_bytes = bytes}));
}

}  // namespace
}  // namespace penstock::cpu
