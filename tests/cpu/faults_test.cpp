// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/faults.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "cpu/cpu_world.hpp"
#include "support/calls.hpp"
#include <gmock/gmock.h>
#include <pthread.h>

namespace penstock::cpu {
namespace {

using support::Calls;
using support::NotedCallback;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct FaultyDevice : CpuWorld {
  Calls calls;
  NotedCallback first{calls, 1}, second{calls, 2}, third{calls, 3}, fourth{calls, 4};
};

TEST_F(FaultyDevice, RefusesTheChosenUploadAndNoOther) {
  Stream const stream = device.make_stream();
  device.inject(Fault::refuse_upload, 2);
  host.assign(bytes, std::byte{1});
  stream.upload(memory.bytes(), host);
  stream.synchronize();
  host.assign(bytes, std::byte{2});
  EXPECT_EQ(kind_thrown_by([&] { stream.upload(memory.bytes(), host); }), ErrorKind::device_refused);
  stream.download(host, memory.bytes());
  stream.synchronize();
  EXPECT_THAT(host, Each(std::byte{1})) << "a refused copy was made";
  EXPECT_NO_THROW(stream.upload(memory.bytes(), host));
  EXPECT_FALSE(device.lost());
  stream.synchronize();
}

TEST_F(FaultyDevice, RefusesTheChosenDownloadAndNoOther) {
  Stream const stream = device.make_stream();
  device.inject(Fault::refuse_download);
  kernels.fill(stream, memory.bytes(), std::byte{7});
  EXPECT_EQ(kind_thrown_by([&] { stream.download(host, memory.bytes()); }), ErrorKind::device_refused);
  stream.synchronize();
  EXPECT_THAT(host, Each(std::byte{0})) << "a refused copy was made";
  stream.download(host, memory.bytes());
  stream.synchronize();
  EXPECT_THAT(host, Each(std::byte{7}));
}

TEST_F(FaultyDevice, RefusesOneLaunchOfThoseThatRaceForIt) {
  constexpr int threads = 4;
  constexpr int launches = 200;
  std::atomic<int> refused{0};
  std::atomic<int> ran{0};
  device.inject(Fault::refuse_launch, threads * launches / 2);
  std::vector<std::jthread> racing;
  for (int i = 0; i < threads; ++i) {
    racing.emplace_back([&] {
      Stream const stream = device.make_stream();
      for (int launch = 0; launch < launches; ++launch) {
        try {
          stream.launch(1, [&](std::uint32_t) { ++ran; });
        } catch (Error const& error) {
          EXPECT_EQ(error.kind(), ErrorKind::device_refused);
          ++refused;
        }
      }
    });
  }
  racing.clear();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(ran, threads * launches - 1);
}

TEST_F(FaultyDevice, HoldsTheStreamOfALateCallbackUntilItIsDelivered) {
  Stream const stream = device.make_stream();
  Stream const other = device.make_stream();
  Event const behind = device.make_event();
  device.inject(Fault::late_callback, 2);
  for (auto* callback : {&first, &second, &third}) stream.call(*callback);
  stream.record(behind);
  calls.await(1);
  while (device.late_callbacks() == 0) std::this_thread::yield();
  other.call(fourth);
  other.synchronize();
  EXPECT_FALSE(behind.passed());
  EXPECT_THAT(calls.numbers(), ElementsAre(1, 4));
  device.deliver_late_callbacks();
  behind.wait();
  EXPECT_EQ(device.late_callbacks(), 0u);
  EXPECT_THAT(calls.numbers(), ElementsAre(1, 4, 2, 3));
}

TEST_F(FaultyDevice, DeliversALateCallbackBeforeItsStreamIsDestroyed) {
  // More than once, so that the callback threads are sometimes asleep already and sometimes not yet.
  for (std::size_t round = 1; round <= 50; ++round) {
    {
      Stream const stream = device.make_stream();
      device.inject(Fault::late_callback);
      stream.call(first);
      stream.call(second);
      while (device.late_callbacks() == 0) std::this_thread::yield();
    }
    ASSERT_EQ(calls.count(), 2 * round);
  }
}

TEST_F(FaultyDevice, DeliversALateCallbackToDestroyAStreamThatWaitsForIt) {
  Stream const late = device.make_stream();
  {
    Stream const waiting = device.make_stream();
    Event const behind = device.make_event();
    device.inject(Fault::late_callback);
    late.call(first);
    late.record(behind);
    waiting.wait(behind);
  }
  EXPECT_EQ(calls.count(), 1u);
}

TEST_F(FaultyDevice, DeliversTheLateCallbacksOfItsDefaultStreamsWhenItDies) {
  {
    CpuDevice own({.compute_threads = 1});
    own.inject(Fault::late_callback, 1);
    own.inject(Fault::late_callback, 2);
    own.legacy_default_stream().call(first);
    own.thread_default_stream().call(second);
  }
  EXPECT_THAT(calls.numbers(), ElementsAre(1, 2));
}

TEST_F(FaultyDevice, CallsADoubleCallbackTwiceInARow) {
  Stream const stream = device.make_stream();
  device.inject(Fault::double_callback, 2);
  for (auto* callback : {&first, &second, &third}) stream.call(*callback);
  stream.synchronize();
  EXPECT_THAT(calls.numbers(), ElementsAre(1, 2, 2, 3));
}

TEST_F(FaultyDevice, GoesOnWithoutALostCallback) {
  Stream const stream = device.make_stream();
  device.inject(Fault::lost_callback, 3);
  for (auto* callback : {&first, &second, &third, &fourth}) stream.call(*callback);
  stream.synchronize();
  EXPECT_THAT(calls.numbers(), ElementsAre(1, 2, 4));
}

TEST_F(FaultyDevice, CallsAnEarlyCallbackAtOnceAndNotAgain) {
  Stream const stream = device.make_stream();
  auto still = kernels.hold(stream);
  device.inject(Fault::early_callback, 2);
  for (auto* callback : {&first, &second, &third}) stream.call(*callback);
  EXPECT_THAT(calls.numbers(), ElementsAre(2));
  still.open();
  stream.synchronize();
  EXPECT_THAT(calls.numbers(), ElementsAre(2, 1, 3));
}

TEST_F(FaultyDevice, TellsTheChosenCallbackOfAFailureThatNeverWas) {
  Stream const stream = device.make_stream();
  device.inject(Fault::false_alarm, 1);
  device.inject(Fault::false_loss, 2);
  for (auto* callback : {&first, &second, &third}) stream.call(*callback);
  stream.synchronize();
  ASSERT_THAT(calls.numbers(), ElementsAre(1, 2, 3));
  EXPECT_FALSE(calls.all()[0].status.ok);
  EXPECT_FALSE(calls.all()[0].status.sticky);
  EXPECT_FALSE(calls.all()[1].status.ok);
  EXPECT_TRUE(calls.all()[1].status.sticky);
  EXPECT_TRUE(calls.all()[2].status.ok);
  EXPECT_FALSE(device.lost());
}

TEST_F(FaultyDevice, TellsAHostFunctionNothing) {
  Stream const stream = device.make_stream();
  device.inject(Fault::false_loss);
  stream.launch_host_function(first);
  stream.synchronize();
  ASSERT_EQ(calls.count(), 1u);
  EXPECT_TRUE(calls.all()[0].status.ok);
}

TEST_F(FaultyDevice, RefusesTheChosenCallOfEachKindAndDoesNothing) {
  Stream const stream = device.make_stream();
  Event const event = device.make_event();
  Flag const flag = device.make_flag();
  for (Fault const fault : {Fault::refuse_call, Fault::refuse_record, Fault::refuse_wait, Fault::refuse_query}) {
    device.inject(fault);
  }
  EXPECT_EQ(kind_thrown_by([&] { stream.call(first); }), ErrorKind::device_refused);
  EXPECT_EQ(kind_thrown_by([&] { stream.record(event); }), ErrorKind::device_refused);
  EXPECT_EQ(kind_thrown_by([&] { stream.wait(event); }), ErrorKind::device_refused);
  EXPECT_EQ(kind_thrown_by([&] { event.passed(); }), ErrorKind::device_refused);
  device.inject(Fault::refuse_call);
  EXPECT_EQ(kind_thrown_by([&] { stream.launch_host_function(first); }), ErrorKind::device_refused);
  device.inject(Fault::refuse_call);
  EXPECT_EQ(kind_thrown_by([&] { stream.write(flag, 1); }), ErrorKind::device_refused);
  device.inject(Fault::refuse_query);
  EXPECT_EQ(kind_thrown_by([&] { stream.idle(); }), ErrorKind::device_refused);
  EXPECT_TRUE(stream.idle());
  EXPECT_EQ(calls.count(), 0u);
  EXPECT_EQ(flag.read(), 0u);
  EXPECT_FALSE(device.lost());
}

TEST_F(FaultyDevice, LetsTheChosenWaitForAnEventEndTooEarlyOrInAnError) {
  Stream const stream = device.make_stream();
  Event const event = device.make_event();
  auto still = kernels.hold(stream);
  stream.record(event);
  device.inject(Fault::early_wakeup);
  event.wait();
  device.inject(Fault::false_wakeup);
  EXPECT_EQ(kind_thrown_by([&] { event.wait(); }), ErrorKind::device_refused);
  EXPECT_FALSE(event.passed());
  still.open();
  event.wait();
  EXPECT_TRUE(event.passed());
}

TEST_F(FaultyDevice, LetsTheChosenWaitForAnEventEndOnlyWithTheLateCallbacks) {
  Event const event = device.make_event();
  std::atomic<bool> woken{false};
  device.inject(Fault::late_wakeup);
  std::jthread const waiter([&] {
    event.wait();
    woken = true;
  });
  while (device.late_callbacks() == 0) std::this_thread::yield();
  event.wait();
  EXPECT_FALSE(woken);
  device.deliver_late_callbacks();
  while (!woken) std::this_thread::yield();
}

/// Notes the name of the thread that calls it.
class Signature final : public StreamCallback {
 public:
  void called(StreamStatus) noexcept override { pthread_getname_np(pthread_self(), name, sizeof name); }
  char name[16] = {};
};

TEST_F(FaultyDevice, CallsAStrayCallbackOnceFromAnotherThreadThanUsual) {
  Signature usual;
  Signature stray;
  Stream const stream = device.make_stream();
  device.inject(Fault::stray_callback, 2);
  stream.call(usual);
  stream.call(stray);
  stream.call(first);
  stream.synchronize();
  EXPECT_THAT(usual.name, HasSubstr("ps-callback"));
  EXPECT_THAT(stray.name, HasSubstr("ps-compute"));
  EXPECT_EQ(calls.count(), 1u);
}

TEST_F(FaultyDevice, LosesTheChosenWriteAndNoOther) {
  Flag const flag = device.make_flag();
  Stream const stream = device.make_stream();
  device.inject(Fault::lost_write, 2);
  for (std::uint64_t const number : {1u, 2u}) {
    stream.write(flag, number);
    stream.synchronize();
    EXPECT_EQ(flag.read(), 1u);
  }
  stream.write(flag, 3);
  stream.synchronize();
  EXPECT_EQ(flag.read(), 3u);
}

TEST_F(FaultyDevice, MakesTheChosenWriteBeforeItsTime) {
  Flag const flag = device.make_flag();
  Stream const stream = device.make_stream();
  auto still = kernels.hold(stream);
  device.inject(Fault::early_write, 2);
  stream.write(flag, 1);
  EXPECT_EQ(flag.read(), 0u);
  stream.write(flag, 2);
  EXPECT_EQ(flag.read(), 2u);
}

TEST_F(FaultyDevice, FailsTheChosenAllocationAndNoOther) {
  device.inject(Fault::fail_allocation, 2);
  DeviceMemory const before = device.allocate(64);
  EXPECT_EQ(kind_thrown_by([&] { device.allocate(64); }), ErrorKind::out_of_device_memory);
  DeviceMemory const after = device.allocate(64);
  EXPECT_EQ(device.outstanding().allocations, 3u) << "memory and two more";
}

TEST_F(FaultyDevice, FailsTheChosenPinAndNoOther) {
  constexpr std::size_t page = std::size_t{1} << 16;
  std::unique_ptr<void, decltype(&std::free)> const pages(std::aligned_alloc(page, page), &std::free);
  std::span const region(static_cast<std::byte*>(pages.get()), page);
  device.inject(Fault::fail_pin);
  EXPECT_EQ(kind_thrown_by([&] { device.pin(region); }), ErrorKind::out_of_pinned_memory);
  EXPECT_NO_THROW(device.pin(region));
}

TEST_F(FaultyDevice, CountsCallsFromOne) {
  EXPECT_EQ(kind_thrown_by([&] { device.inject(Fault::lost_callback, 0); }), ErrorKind::bad_argument);
}

}  // namespace
}  // namespace penstock::cpu
