// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include "cpu/cpu_world.hpp"
#include "support/calls.hpp"
#include "support/gate.hpp"
#include "support/thread_state.hpp"
#include <gmock/gmock.h>
#include <unistd.h>

namespace penstock::cpu {
namespace {

using support::Calls;
using support::NotedCallback;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// A device that a fault ends in each test. It has one callback thread, so that callbacks come in one order.
struct LostDevice : CpuWorld {
  LostDevice() : CpuWorld({.compute_threads = 4, .callback_threads = 1}) {}
  /// Ends the device from a stream of its own.
  void lose(std::string const& cause = "an illegal address") {
    Stream const doomed = device.make_stream();
    doomed.launch(1, [cause](std::uint32_t) { throw std::runtime_error(cause); });
    EXPECT_EQ(kind_thrown_by([&] { doomed.synchronize(); }), ErrorKind::device_lost);
  }
  /// As `lose`, and waits for a callback behind the fault: those that could come by then have come.
  void lose_and_await_callbacks() {
    Calls calls;
    NotedCallback behind(calls, 0);
    Stream const doomed = device.make_stream();
    auto still = kernels.hold(doomed);
    doomed.launch(1, [](std::uint32_t) { throw std::runtime_error("an illegal address"); });
    doomed.call(behind);
    still.open();
    calls.await(1);
  }
  void expect_lost_for(std::string const& cause) {
    ASSERT_TRUE(device.lost());
    EXPECT_TRUE(device.lost()->sticky());
    EXPECT_THAT(device.lost()->what(), HasSubstr(cause));
  }
};

TEST_F(LostDevice, NamesWhatAKernelThrew) {
  lose("row 17 is not sorted");
  expect_lost_for("row 17 is not sorted");
}

TEST_F(LostDevice, SurvivesAKernelThatThrowsWhatIsNoException) {
  Stream const stream = device.make_stream();
  stream.launch(3, [](std::uint32_t) { throw 42; });
  EXPECT_EQ(kind_thrown_by([&] { stream.synchronize(); }), ErrorKind::device_lost);
}

TEST_F(LostDevice, RemembersTheFirstCause) {
  support::Gate gate;
  {
    Stream const stream = device.make_stream();
    stream.launch(1, [&](std::uint32_t) {
      gate.pass();
      throw std::runtime_error("the second");
    });
    gate.await_reached();
    lose("the first");
    gate.open();
  }
  expect_lost_for("the first");
}

TEST_F(LostDevice, DoesNothingThatWasPutInBeforeTheFault) {
  std::atomic<bool> ran{false};
  host.assign(bytes, std::byte{1});
  std::vector<std::byte> back(bytes);
  {
    Stream const stream = device.make_stream();
    auto still = kernels.hold(stream);
    still.await_reached();
    stream.upload(memory.bytes(), host);
    stream.launch(8, [&](std::uint32_t) { ran = true; });
    stream.download(back, memory.bytes());
    lose();
  }
  EXPECT_FALSE(ran);
  EXPECT_THAT(back, Each(std::byte{0}));
}

TEST_F(LostDevice, RefusesEveryCall) {
  Stream const stream = device.make_stream();
  Event const event = device.make_event({.timing = true});
  Flag const flag = device.make_flag();
  Calls calls;
  NotedCallback callback(calls, 1);
  lose();
  std::vector<std::function<void()>> const every{
      [&] { stream.upload(memory.bytes(), host); },
      [&] { stream.download(host, memory.bytes()); },
      [&] { stream.launch(1, [](std::uint32_t) {}); },
      [&] { stream.record(event); },
      [&] { stream.wait(event); },
      [&] { stream.call(callback); },
      [&] { stream.launch_host_function(callback); },
      [&] { stream.write(flag, 1); },
      [&] { stream.idle(); },
      [&] { stream.synchronize(); },
      [&] { device.legacy_default_stream().synchronize(); },
      [&] { device.thread_default_stream().synchronize(); },
      [&] { event.passed(); },
      [&] { event.wait(); },
      [&] { event.since(event); },
      [&] { device.attach(); },
      [&] { device.make_stream(); },
      [&] { device.make_event(); },
      [&] { device.make_flag(); },
      [&] { device.allocate(1); },
      [&] { device.pin({}); },
      [&] { device.synchronize(); },
  };
  for (std::size_t i = 0; i < every.size(); ++i) {
    EXPECT_EQ(kind_thrown_by(every[i]), ErrorKind::device_lost) << "call " << i;
  }
  EXPECT_EQ(calls.count(), 0u);
}

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

TEST_F(LostDevice, LetsGoOfThreadsThatWaitForWhatWillNeverRun) {
  Stream const held = device.make_stream();
  Stream const behind = device.make_stream();
  Event const opened = device.make_event();
  Event const end = device.make_event();
  auto still = kernels.hold(held);
  held.record(opened);
  behind.wait(opened);
  kernels.add_one(behind, memory.bytes());
  behind.record(end);
  std::promise<pid_t> at_event, at_stream;
  std::jthread for_event([&] {
    at_event.set_value(gettid());
    EXPECT_EQ(kind_thrown_by([&] { end.wait(); }), ErrorKind::device_lost);
  });
  std::jthread for_stream([&] {
    at_stream.set_value(gettid());
    EXPECT_EQ(kind_thrown_by([&] { behind.synchronize(); }), ErrorKind::device_lost);
  });
  support::await_asleep(at_event.get_future().get());
  support::await_asleep(at_stream.get_future().get());
  lose();
  for_event.join();
  for_stream.join();
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

TEST_F(LostDevice, LetsGoOfAThreadOnlyWhenWhatItWaitsForHasEnded) {
  std::atomic<bool> ended{false};
  support::Gate gate;
  Stream const stream = device.make_stream();
  stream.launch(1, [&](std::uint32_t) {
    gate.pass();
    ended = true;
  });
  gate.await_reached();
  lose();
  std::jthread const opener([&] {
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    gate.open();
  });
  EXPECT_EQ(kind_thrown_by([&] { stream.synchronize(); }), ErrorKind::device_lost);
  EXPECT_TRUE(ended);
}

TEST_F(LostDevice, StopsAGridThatIsUnderWay) {
  constexpr std::uint32_t blocks = 1'000'000'000;  // More than would end within the test's time.
  Stream const stream = device.make_stream();
  stream.launch(blocks, [](std::uint32_t block) {
    if (block == 1000) throw std::runtime_error("block 1000");
  });
  EXPECT_EQ(kind_thrown_by([&] { stream.synchronize(); }), ErrorKind::device_lost);
  expect_lost_for("block 1000");
}

struct InjectedFault : LostDevice, testing::WithParamInterface<Fault> {};

TEST_P(InjectedFault, StrikesTheChosenOperationWhenItsTurnComes) {
  Calls calls;
  NotedCallback after_one(calls, 1), after_all(calls, 2);
  std::atomic<int> ran{0};
  std::vector<std::byte> back(bytes);
  host.assign(bytes, std::byte{1});
  {
    Stream const stream = device.make_stream();
    auto still = kernels.hold(stream);
    device.inject(GetParam(), 2);
    for (int round = 0; round < 3; ++round) {
      stream.upload(memory.bytes(), host);
      stream.launch(1, [&](std::uint32_t) { ++ran; });
      stream.download(back, memory.bytes());
      if (round == 0) stream.call(after_one);
    }
    stream.call(after_all);
    EXPECT_FALSE(device.lost()) << "it struck when it was put in";
    still.open();
    EXPECT_EQ(kind_thrown_by([&] { stream.synchronize(); }), ErrorKind::device_lost);
  }
  expect_lost_for("injected");
  EXPECT_EQ(ran, GetParam() == Fault::break_download ? 2 : 1);
  EXPECT_THAT(back, Each(std::byte{1}));
  ASSERT_THAT(calls.numbers(), ElementsAre(1, 2));
  EXPECT_TRUE(calls.all()[0].status.ok);
  EXPECT_FALSE(calls.all()[1].status.ok);
}

INSTANTIATE_TEST_SUITE_P(Each, InjectedFault,
                         testing::Values(Fault::break_upload, Fault::break_download, Fault::break_kernel),
                         [](auto const& chosen) {
                           return chosen.param == Fault::break_upload     ? "Upload"
                                  : chosen.param == Fault::break_download ? "Download"
                                                                          : "Kernel";
                         });

}  // namespace
}  // namespace penstock::cpu
