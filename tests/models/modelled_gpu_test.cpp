// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/too_slow.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "models/host_account.hpp"
#include "models/host_keeper.hpp"
#include "models/modelled_time.hpp"
#include "penstock/clock.hpp"

namespace penstock::cpu {
namespace {

using namespace std::chrono_literals;
using Time = DeviceModel::Time;

constexpr std::size_t megabyte = 1'000'000;
/// All that is put in meanwhile is there when it ends, also where other programs take the CPUs for a second.
constexpr auto long_kernel = 50ms;

DeviceModel model_of_ten_gigabytes_a_second() {
  DeviceModel model;
  model.name = "a GPU of the tests";
  model.link = {.up = 10, .down = 10, .both = 10, .mapped = 10, .pageable = 1, .copy = Time(2)};
  model.kernels = {.units = 10, .threads_per_unit = 128, .memory = 100, .tera_flops = 1, .start = Time(1)};
  model.completions = {.noticed = Time(5), .called = Time(5)};
  return model;
}

/// A modelled GPU on a clock that is 20 times slower.
struct ModelledGpu : testing::Test {
  ModelledGpu() : ModelledGpu(model_of_ten_gigabytes_a_second()) {}
  explicit ModelledGpu(DeviceModel const& model) {
    cpu::slow_clock(20);
    device = std::make_unique<FaultyCpuDevice>(CpuOptions{.compute_threads = 2, .time = modelled_time(model)});
  }
  ~ModelledGpu() override {
    if (!device->lost()) {
      EXPECT_EQ(device->outstanding(), Outstanding{});
    }
  }

  /// Keeps the streams that wait for it from going on, so that what is put in is seen by the device as if at once.
  void hold(Stream const& first, std::vector<Stream const*> const& others = {}) {
    first.launch(1, [](std::uint32_t) {}, {.time = long_kernel, .blocks = 1});
    Event const held = device->make_event();
    first.record(held);
    for (Stream const* const other : others) other->wait(held);
  }
  Event mark(StreamRef stream) {
    Event event = device->make_event({.timing = true});
    stream.record(event);
    return event;
  }

  std::unique_ptr<FaultyCpuDevice> device;
};

/// Pinned memory, and as much of the device's.
struct Buffers {
  Buffers(Device& device, std::size_t bytes)
      : memory(static_cast<std::byte*>(std::aligned_alloc(4096, bytes)), std::free),
        host(memory.get(), bytes),
        pinned(device.pin(host)),
        there(device.allocate(bytes)) {}

  std::unique_ptr<std::byte, decltype(&std::free)> memory;
  std::span<std::byte> host;
  Pinned pinned;
  DeviceMemory there;
};

TEST_F(ModelledGpu, SaysWhatItStandsFor) {
  DeviceInfo const info = device->info();
  EXPECT_EQ(info.name, "model of a GPU of the tests");
  EXPECT_EQ(info.compute_units, 10);
  EXPECT_TRUE(info.modelled);
  EXPECT_TRUE(info.acts_as_gpu());
}

TEST_F(ModelledGpu, TakesTheLinksTimeForACopy) {
  Buffers const buffers(*device, 1'048'576);
  Stream const stream = device->make_stream();
  hold(stream);
  Event const before = mark(stream);
  for (int i = 0; i < 4; ++i) stream.upload(buffers.there.bytes(), buffers.host.first(megabyte));
  Event const after = mark(stream);
  stream.synchronize();
  EXPECT_EQ(after.since(before), 4 * 102us) << "a megabyte takes 100 us, and each copy 2";
}

TEST_F(ModelledGpu, RunsCopiesAndKernelsOfDifferentStreamsAtOnce) {
  Buffers const buffers(*device, 1'048'576);
  Stream const copies = device->make_stream(), kernels = device->make_stream();
  hold(copies, {&kernels});
  Event const before = mark(copies);
  copies.upload(buffers.there.bytes(), buffers.host.first(megabyte));
  Event const copied = mark(copies);
  kernels.launch(1, [](std::uint32_t) {}, {.time = 80us});
  Event const computed = mark(kernels);
  device->synchronize();
  EXPECT_EQ(copied.since(before), 102us);
  EXPECT_EQ(computed.since(before), 81us);
}

TEST_F(ModelledGpu, TellsTimesInStepsIfItsEventsDo) {
  DeviceModel model = model_of_ten_gigabytes_a_second();
  model.completions.event_resolution = Time(30);
  device = std::make_unique<FaultyCpuDevice>(CpuOptions{.compute_threads = 2, .time = modelled_time(model)});
  Stream const stream = device->make_stream();
  for (int i = 1; i <= 4; ++i) {
    hold(stream);
    Event const before = mark(stream);
    stream.launch(1, [](std::uint32_t) {}, {.time = i * 20us});
    Event const after = mark(stream);
    stream.synchronize();
    auto const time = after.since(before).value();
    EXPECT_EQ(time % 30us, 0us) << time.count();
    EXPECT_LE(std::chrono::abs(time - (i * 20us + 1us)), 30us);
  }
}

/// Returns the time from the beginning of an upload of one device to its end, in which the other may copy as well.
std::chrono::nanoseconds time_of_an_upload(FaultyCpuDevice& device, std::function<void()> const& meanwhile) {
  Buffers const buffers(device, 1'048'576);
  Stream const stream = device.make_stream();
  stream.launch(1, [](std::uint32_t) {}, {.time = long_kernel, .blocks = 1});
  Event const before = device.make_event({.timing = true}), after = device.make_event({.timing = true});
  stream.record(before);
  stream.upload(buffers.there.bytes(), buffers.host.first(megabyte));
  stream.record(after);
  meanwhile();
  stream.synchronize();
  return after.since(before).value();
}

TEST_F(ModelledGpu, HasALinkOfItsOwn) {
  FaultyCpuDevice second(
      CpuOptions{.ordinal = 1, .compute_threads = 2, .time = modelled_time(model_of_ten_gigabytes_a_second())});
  auto of_second = 0ns;
  auto const of_first = time_of_an_upload(*device, [&] { of_second = time_of_an_upload(second, [] {}); });
  EXPECT_EQ(of_first, 102us);
  EXPECT_EQ(of_second, 102us);
}

TEST_F(ModelledGpu, SaysThatThisMachineIsTooSlowIfWorkIsDoneLate) {
  Stream const stream = device->make_stream();
  static_cast<void>(device->remarks());
  auto const takes_longer_than_it_should = [](std::uint32_t) {
    for (auto const began = Clock::now(); Clock::now() - began < 100us;) {
    }
  };
  stream.launch(1, takes_longer_than_it_should, {.time = 1us, .blocks = 1});
  stream.synchronize();
  std::vector<std::string> const remarks = device->remarks();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_TRUE(remarks.front().starts_with(too_slow_for_its_clock)) << remarks.front();
  std::string kept;
  keep_too_slow(remarks, kept);
  EXPECT_EQ(kept, remarks.front());
}

TEST_F(ModelledGpu, DoesTheWorkForReal) {
  Buffers const buffers(*device, 4096);
  std::fill(buffers.host.begin(), buffers.host.end(), std::byte{7});
  Stream const stream = device->make_stream();
  stream.upload(buffers.there.bytes(), buffers.host);
  DeviceSpan<std::byte> const there = buffers.there.bytes();
  stream.launch(1, [there](KernelBlock block) { there.in(block)[5] = std::byte{8}; }, {.time = 10us});
  stream.download(buffers.host, there);
  stream.synchronize();
  EXPECT_EQ(buffers.host[4], std::byte{7});
  EXPECT_EQ(buffers.host[5], std::byte{8});
}

TEST_F(ModelledGpu, KeepsTheCallerWhileItCopiesPageableMemory) {
  std::vector<std::byte> pageable(megabyte);
  DeviceMemory const there = device->allocate(megabyte);
  Stream const stream = device->make_stream();
  auto const began = Clock::now();
  stream.upload(there.bytes(), pageable);
  EXPECT_GE(Clock::now() - began, 1ms) << "a gigabyte a second";
}

TEST_F(ModelledGpu, LetsAnEventPassNoSoonerThanItsTime) {
  Stream const stream = device->make_stream();
  auto const began = Clock::now();
  stream.launch(1, [](std::uint32_t) {}, {.time = 10ms});
  Event const event = mark(stream);
  EXPECT_FALSE(event.passed() && Clock::now() - began < 10ms);
  event.wait();
  EXPECT_GE(Clock::now() - began, 10ms);
}

TEST_F(ModelledGpu, TellsTheTimeBetweenEventsByACallAndNoSoonerThanTheyPass) {
  DeviceModel model = model_of_ten_gigabytes_a_second();
  model.calls.query = Time(1000);
  model.completions.noticed = Time(20'000);
  FaultyCpuDevice slow(CpuOptions{.ordinal = 1, .compute_threads = 2, .time = modelled_time(model)});
  Stream const stream = slow.make_stream();
  Event const before = slow.make_event({.timing = true}), after = slow.make_event({.timing = true});
  auto const began = Clock::now();
  stream.record(before);
  stream.record(after);
  while (!after.since(before)) std::this_thread::yield();
  EXPECT_GE(Clock::now() - began, 20ms) << "so long a host does not notice that they passed";
  auto const asked = Clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(after.since(before));
  // The time by which its sleeps before were too long counts, too.
  auto const saved = std::chrono::nanoseconds(HostAccount::most_saved);
  EXPECT_GE(Clock::now() - asked, 20ms - saved) << "a millisecond a question";
}

TEST_F(ModelledGpu, NotesWhenAKernelRan) {
  std::uint64_t began = 0, ended = 0;
  Stream const stream = device->make_stream();
  stream.launch(1, [](std::uint32_t) {}, {.time = 30us, .began = &began, .ended = &ended});
  stream.synchronize();
  EXPECT_EQ(ended - began, 31'000U);
}

/// Notes when it was called.
class Called final : public StreamCallback {
 public:
  void called(StreamStatus status) noexcept override {
    ok = status.ok;
    at = Clock::now();
    was.store(true, std::memory_order_release);
  }
  std::atomic<bool> was{false};
  bool ok = false;
  Clock::time_point at;
};

TEST_F(ModelledGpu, CallsBackNoSoonerThanItsTime) {
  Stream const stream = device->make_stream();
  Called callback;
  auto const began = Clock::now();
  stream.launch(1, [](std::uint32_t) {}, {.time = 10ms});
  stream.call(callback);
  stream.synchronize();
  ASSERT_TRUE(callback.was.load(std::memory_order_acquire));
  EXPECT_TRUE(callback.ok);
  EXPECT_GE(callback.at - began, 10ms);
}

TEST_F(ModelledGpu, ThatIsLostTellsAllThatWait) {
  Called callback;
  {
    Stream const stream = device->make_stream(), other = device->make_stream();
    hold(stream, {&other});
    other.call(callback);
    device->inject(Fault::break_kernel);
    Stream const third = device->make_stream();
    third.launch(1, [](std::uint32_t) {});
    EXPECT_THROW(third.synchronize(), Error);
    EXPECT_THROW(other.synchronize(), Error);
  }
  EXPECT_TRUE(callback.was.load(std::memory_order_acquire));
  EXPECT_FALSE(callback.ok);
  EXPECT_TRUE(device->lost().has_value());
}

TEST_F(ModelledGpu, HasNotedAKernelsTimesForWhatIsBehindItInTheStream) {
  Buffers const buffers(*device, 4096);
  auto* const times = reinterpret_cast<std::uint64_t*>(buffers.there.bytes().data());
  Stream const stream = device->make_stream();
  stream.launch(1, [](std::uint32_t) {}, {.time = 30us, .began = &times[0], .ended = &times[1]});
  stream.download(buffers.host, buffers.there.bytes());
  stream.synchronize();
  auto const* const seen = reinterpret_cast<std::uint64_t const*>(buffers.host.data());
  EXPECT_EQ(seen[1] - seen[0], 31'000U);
}

}  // namespace
}  // namespace penstock::cpu
