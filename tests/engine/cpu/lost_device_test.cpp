// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/lost_device.hpp"

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

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
  constexpr std::uint32_t blocks = 1'000'000'000;  // These would not end within the test's time.
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
