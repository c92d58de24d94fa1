// SPDX-License-Identifier: Apache-2.0
// Whom a lost device still calls back.
#include <thread>

#include "engine/cpu/lost_device.hpp"

namespace penstock::cpu {
namespace {

using support::Calls;
using support::NotedCallback;
using testing::ElementsAre;

TEST_F(LostDevice, TellsEveryCallbackOnceAndInOrder) {
  Calls calls;
  NotedCallback before(calls, 1), behind(calls, 2), last(calls, 3);
  {
    Stream const stream = device.make_stream();
    stream.call(before);
    calls.await(1);
    auto still = kernels.hold(stream);
    still.await_reached();
    stream.upload(memory.bytes(), host);
    stream.call(behind);
    kernels.add_one(stream, memory.bytes());
    stream.call(last);
    lose_and_await_callbacks();
    EXPECT_EQ(calls.count(), 1u) << "a callback came before what runs in front of it had ended";
  }
  ASSERT_THAT(calls.numbers(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(calls.all()[0].status.ok);
  for (std::size_t i : {1u, 2u}) {
    EXPECT_FALSE(calls.all()[i].status.ok);
    EXPECT_TRUE(calls.all()[i].status.sticky);
    EXPECT_NE(calls.all()[i].status.code, 0);
  }
}

TEST_F(LostDevice, MakesNoHostFunctionsAndWritesNoFlagsAnyMore) {
  Calls calls;
  NotedCallback behind(calls, 1);
  Flag const flag = device.make_flag();
  {
    Stream const stream = device.make_stream();
    auto still = kernels.hold(stream);
    still.await_reached();
    stream.launch_host_function(behind);
    stream.write(flag, 1);
    lose_and_await_callbacks();
  }
  EXPECT_EQ(calls.count(), 0u);
  EXPECT_EQ(flag.read(), 0u);
}

TEST_F(LostDevice, CallsNobodyBackWhoseCallWasDroppedHoweverLateItIs) {
  Calls calls;
  {
    NotedCallback late(calls, 1), behind(calls, 2);
    Stream const stream = device.make_stream();
    device.inject(Fault::late_callback);
    stream.call(late);
    stream.call(behind);
    while (device.late_callbacks() == 0) std::this_thread::yield();
    lose();
    stream.drop_calls();
  }
  device.deliver_late_callbacks();
  EXPECT_EQ(calls.count(), 0u);
}

TEST_F(LostDevice, TellsALateCallbackToo) {
  Calls calls;
  NotedCallback late(calls, 1);
  Stream const stream = device.make_stream();
  device.inject(Fault::late_callback);
  stream.call(late);
  lose_and_await_callbacks();
  EXPECT_EQ(kind_thrown_by([&] { stream.synchronize(); }), ErrorKind::device_lost);
  EXPECT_EQ(calls.count(), 0u);
  device.deliver_late_callbacks();
  calls.await(1);
  EXPECT_FALSE(calls.all()[0].status.ok);
}

TEST_F(LostDevice, TellsALateCallbackBeforeItsStreamIsGoneAndNeverAfter) {
  Calls calls;
  {
    NotedCallback late(calls, 1);
    Stream const stream = device.make_stream();
    device.inject(Fault::late_callback);
    stream.call(late);
    while (device.late_callbacks() == 0) std::this_thread::yield();
    lose();
  }
  ASSERT_EQ(calls.count(), 1u);
  EXPECT_TRUE(calls.all()[0].status.sticky);
  device.deliver_late_callbacks();
  EXPECT_EQ(calls.count(), 1u);
}

}  // namespace
}  // namespace penstock::cpu
