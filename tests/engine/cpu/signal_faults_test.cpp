// SPDX-License-Identifier: Apache-2.0
// Faults of a device when it says that it got somewhere.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <pthread.h>

#include "engine/cpu/faulty_device.hpp"

namespace penstock::cpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
  // There are many rounds, so that the callback threads are sometimes asleep already and sometimes not yet.
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
    FaultyCpuDevice own({.compute_threads = 1});
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

}  // namespace
}  // namespace penstock::cpu
