// SPDX-License-Identifier: Apache-2.0
// Tests what kernels share with copies and with each other.
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

#include "models/timeline_world.hpp"

namespace penstock::cpu {
namespace {

using namespace std::chrono_literals;

TEST(Timeline, TakesTheLinkForWhatAKernelTouchesOfTheHostsMemory) {
  TimelineOf device(plain_model());
  StreamState& stream = device.stream();
  Operation const& kernel = device.put(stream, {.kind = Kind::kernel, .linked_reads = 2'000, .linked_writes = 1'000});
  device.run();
  EXPECT_EQ(device.end(kernel), 2us);
}

/// A kernel that reads so much of the host's memory, or writes it.
Request on_the_hosts_memory(std::size_t reads, std::size_t writes) {
  return {.kind = Kind::kernel, .cost = {.blocks = 1}, .linked_reads = reads, .linked_writes = writes};
}

TEST(Timeline, LetsACopyAndAKernelThatReadsTheHostsMemoryShareTheLink) {
  TimelineOf device(plain_model());
  Operation const& kernel = device.put(device.stream(), on_the_hosts_memory(1'000, 0));
  Operation const& up = device.copy(device.stream(), Kind::upload, 2'000);
  Operation const& down = device.copy(device.stream(), Kind::download, 1'000);
  device.run();
  EXPECT_EQ(device.end(down), 1'000ns) << "nothing else goes down";
  EXPECT_EQ(device.end(kernel), 2'000ns) << "at half the rate";
  EXPECT_EQ(device.end(up), 3'000ns) << "1000 bytes of it went at half the rate";
}

TEST(Timeline, LeavesACopyWhatAKernelDoesNotTakeOfTheLink) {
  DeviceModel model = plain_model();
  model.link.mapped = 0.25;
  TimelineOf device(model);
  Operation const& kernel = device.put(device.stream(), on_the_hosts_memory(0, 1'000));
  Operation const& down = device.copy(device.stream(), Kind::download, 3'000);
  device.run();
  EXPECT_EQ(device.end(kernel), 4'000ns);
  EXPECT_EQ(device.end(down), 4'000ns) << "at three quarters of the rate";
}

TEST(Timeline, BoundsWhatAllKernelsTogetherReadOfTheHostsMemory) {
  DeviceModel model = plain_model();
  model.link.mapped = 0.5;
  TimelineOf device(model);
  Operation const& one = device.put(device.stream(), on_the_hosts_memory(1'000, 0));
  Operation const& other = device.put(device.stream(), on_the_hosts_memory(1'000, 0));
  device.run();
  EXPECT_EQ(device.end(one), 4'000ns) << "at half of what they are bound to";
  EXPECT_EQ(device.end(other), 4'000ns);
}

TEST(Timeline, CopiesMemoryOfAFarNodeAtItsOwnRate) {
  DeviceModel model = plain_model();
  model.link.far = 0.5;
  TimelineOf device(model);
  static std::array<std::byte, 1'000> bytes{};
  Operation const& far = device.put(device.stream(), {.kind = Kind::upload, .from = bytes, .far = true});
  device.run();
  EXPECT_EQ(device.end(far), 2'000ns);
  Operation const& near = device.copy(device.stream(), Kind::upload, 1'000);
  auto const before = device.since(device.now());
  device.run();
  EXPECT_EQ(device.end(near) - before, 1'000ns);
}

TEST(Timeline, CopiesMemoryOfAFarNodeDownAtItsOwnRateIfThatIsAnother) {
  DeviceModel model = plain_model();
  model.link.far = 0.5;
  model.link.far_down = 0.25;
  static std::array<std::byte, 1'000> bytes{};
  for (auto const& [kind, time] : {std::pair(Kind::upload, 2us), std::pair(Kind::download, 4us)}) {
    TimelineOf device(model);
    Operation const& far = device.put(device.stream(), {.kind = kind, .from = bytes, .far = true});
    device.run();
    EXPECT_EQ(device.end(far), time);
  }
}

/// A kernel that takes 1 us alone for these bytes, since the memory of the plain model bounds it.
KernelCost bound_by_memory() {
  static std::array<std::byte, 10'000> bytes{};
  return {.reads = {DeviceSpan<std::byte const>(std::span<std::byte>{bytes})}, .blocks = 1};
}

TEST(Timeline, LetsKernelsThatMemoryBoundsTakeTwiceAsLongBesideEachOther) {
  TimelineOf device(plain_model());
  Operation const& one = device.kernel(device.stream(), bound_by_memory());
  Operation const& other = device.kernel(device.stream(), bound_by_memory());
  device.run();
  EXPECT_EQ(device.end(one), 2us);
  EXPECT_EQ(device.end(other), 2us);
}

TEST(Timeline, LetsAKernelThatLeavesMemoryUnusedRunBesideOneThatMemoryBounds) {
  TimelineOf device(plain_model());
  KernelCost half = bound_by_memory();
  half.time = 2us;
  Operation const& slow = device.kernel(device.stream(), half);
  Operation const& fast = device.kernel(device.stream(), bound_by_memory());
  device.run();
  EXPECT_EQ(device.end(slow), 2us) << "it gets the half that it wants";
  EXPECT_EQ(device.end(fast), 2us) << "for which the other half is left";
}

TEST(Timeline, LetsACopyAndAKernelShareTheMemoryOfTheDevice) {
  TimelineOf device(plain_model());
  Operation const& kernel = device.kernel(device.stream(), bound_by_memory());
  Operation const& up = device.copy(device.stream(), Kind::upload, 1'000);
  device.run();
  EXPECT_EQ(device.end(kernel), 1'100ns) << "10 and 1 GB/s want 11 of 10";
  EXPECT_EQ(device.end(up), 1'100ns);
}

TEST(Timeline, SlowsCopiesDownMoreBesideKernelsThatKeepTheMemoryBusyIfTheModelSaysSo) {
  auto const time_of_a_copy = [&](double kept, KernelCost const& cost) {
    DeviceModel model = plain_model();
    model.link.beside_kernels = kept;
    TimelineOf device(model);
    device.kernel(device.stream(), cost);
    Operation const& up = device.copy(device.stream(), Kind::upload, 2'000);
    device.run();
    return device.end(up);
  };
  KernelCost by_time = bound_by_memory();
  by_time.time = 2us;
  EXPECT_EQ(time_of_a_copy(1, bound_by_memory()), 2'100ns) << "for 1.1 us it goes at 10 / 11";
  EXPECT_EQ(time_of_a_copy(0.5, bound_by_memory()), 2'600ns) << "and at half of that";
  EXPECT_EQ(time_of_a_copy(0.5, by_time), 2'500ns) << "for 2 us it goes at three quarters";
  EXPECT_EQ(time_of_a_copy(0.5, {.time = 2us}), 2'000ns) << "beside a kernel that leaves the memory alone";
}

/// A copy of 1000 bytes, of this device alone or of two.
Request between_devices(bool peer) {
  static std::array<std::byte, 1'000> const bytes{};
  return {.kind = Kind::copy, .from = bytes, .peer = peer};
}

TEST(Timeline, TakesTheLinkBetweenGpusForACopyToAnother) {
  DeviceModel model = plain_model();
  TimelineOf device(model);
  Operation const& by_the_host = device.put(device.stream(), between_devices(true));
  device.run();
  EXPECT_EQ(device.end(by_the_host), 1'000ns) << "there is no link between GPUs";
  model.link.peer = 4;
  TimelineOf linked(model);
  Operation const& copy = linked.put(linked.stream(), between_devices(true));
  Operation const& up = linked.copy(linked.stream(), Kind::upload, 1'000);
  Operation const& kernel = linked.kernel(linked.stream(), {.time = 500ns});
  linked.run();
  EXPECT_EQ(linked.end(copy), 250ns);
  EXPECT_EQ(linked.end(up), 1'000ns) << "the link to the host is another";
  EXPECT_EQ(linked.end(kernel), 500ns);
}

TEST(Timeline, ReadsAndWritesTheMemoryOfTheDeviceForACopyWithin) {
  TimelineOf device(plain_model());
  StreamState& stream = device.stream();
  Operation const& first = device.put(stream, between_devices(false));
  Operation const& beside = device.put(device.stream(), between_devices(false));
  device.run();
  EXPECT_EQ(device.end(first), 200ns) << "at 10 GB/s";
  EXPECT_EQ(device.end(beside), 400ns) << "one at a time";
}

TEST(Timeline, HasOneEngineForAllCopiesIfThereIsButOne) {
  DeviceModel model = plain_model();
  model.copy_engines = 1;
  TimelineOf device(model);
  Operation const& up = device.copy(device.stream(), Kind::upload, 1'000);
  Operation const& within = device.put(device.stream(), between_devices(false));
  device.run();
  EXPECT_EQ(device.end(up), 1'000ns);
  EXPECT_EQ(device.end(within), 1'200ns);
}

TEST(Timeline, RunsNoMoreKernelsAtOnceThanTheDeviceCan) {
  DeviceModel model = plain_model();
  model.kernels.at_once = 1;
  TimelineOf device(model);
  device.kernel(device.stream(), {.time = 10us, .blocks = 1});
  Operation const& other = device.kernel(device.stream(), {.time = 10us, .blocks = 1});
  device.run();
  EXPECT_EQ(device.begin(other), 10us) << "though there is room for its block";
}

/// A device that tells the end of kernels with that of the kernel issued right behind them.
struct TellsEndsTogether : testing::Test {
  static DeviceModel model() {
    DeviceModel model = plain_model();
    model.kernels.signal_together = true;
    return model;
  }
  /// Puts a kernel in beside which a block of another one has room.
  Operation& kernel(StreamState& stream, std::chrono::nanoseconds time) {
    return device.kernel(stream, {.time = time, .blocks = 1});
  }

  TimelineOf device{model()};
};

TEST_F(TellsEndsTogether, TellsTheEndOfAKernelWithThatOfTheOneIssuedBehindIt) {
  StreamState& first = device.stream();
  Operation const& one = kernel(first, 2us);
  Operation const& two = kernel(device.stream(), 1us);
  Operation const& three = kernel(device.stream(), 5us);
  Operation const& down = device.copy(first, Kind::download, 1'000);
  device.run();
  EXPECT_EQ(device.end(one), 6us) << "the third began behind the second";
  EXPECT_EQ(device.end(two), 6us);
  EXPECT_EQ(device.end(three), 6us);
  EXPECT_EQ(device.begin(down), 6us);
}

TEST_F(TellsEndsTogether, TellsTheEndOfAKernelThatTakesLongerThanTheOnesBehindItAtOnce) {
  Operation const& one = kernel(device.stream(), 5us);
  Operation const& other = kernel(device.stream(), 2us);
  device.run();
  EXPECT_EQ(device.end(other), 2us);
  EXPECT_EQ(device.end(one), 5us);
}

TEST_F(TellsEndsTogether, TellsTheEndAtOnceIfAnythingElseWasIssuedBetween) {
  Operation const& one = kernel(device.stream(), 2us);
  device.copy(device.stream(), Kind::upload, 10);
  kernel(device.stream(), 5us);
  device.run();
  EXPECT_EQ(device.end(one), 2us);
}

TEST_F(TellsEndsTogether, LetsAKernelBeginBehindTheOneItDependsOn) {
  StreamState& stream = device.stream();
  Operation const& one = kernel(stream, 2us);
  Operation const& other = kernel(stream, 2us);
  device.run();
  EXPECT_EQ(device.end(one), 2us);
  EXPECT_EQ(device.end(other), 4us);
}

TEST_F(TellsEndsTogether, ForgetsAKernelThatIsOver) {
  Operation const& one = kernel(device.stream(), 2us);
  device.run();
  Operation const& other = kernel(device.stream(), 2us);
  device.run();
  EXPECT_EQ(device.end(one), 2us);
  EXPECT_EQ(modelled(other).signals_for, nullptr);
}

}  // namespace
}  // namespace penstock::cpu
