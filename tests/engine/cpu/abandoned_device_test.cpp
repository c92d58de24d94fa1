// SPDX-License-Identifier: Apache-2.0
// A device for which no thread waits any more.
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "support/gate.hpp"
#include "support/thread_state.hpp"
#include <gmock/gmock.h>
#include <unistd.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock::cpu {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

/// A CPU device with a stream that is in a kernel, which ends when the gate opens: at the latest when the test does.
struct ABusyDevice : testing::Test {
  support::Gate gate;
  std::optional<CpuDevice> device{std::in_place, CpuOptions{.compute_threads = 1}};
  DeviceMemory memory = device->allocate(4096);
  std::optional<Stream> stream{device->make_stream()};
  Error const why{ErrorKind::device_lost, "It takes too long."};

  void SetUp() override {
    // It writes once more after all waits have ended.
    stream->launch(1, [this, bytes = memory.bytes()](std::uint32_t) {
      gate.pass();
      bytes.front() = std::byte{1};
      bytes.back() = std::byte{1};
    });
    gate.await_reached();
  }
  void TearDown() override {
    gate.open();
    stream.reset();
    memory = {};
    if (device) {
      EXPECT_EQ(device->outstanding(), Outstanding{});
    }
  }
  /// Calls `wait` on a thread that is asleep in it when the device is abandoned.
  template <class Wait>
  void expect_let_go(Wait wait) {
    std::atomic<pid_t> thread{0};
    std::jthread const waiter([&] {
      thread = gettid();
      EXPECT_THAT(wait, ThrowsMessage<Error>(StrEq(why.what())));
    });
    while (thread == 0) std::this_thread::yield();
    support::await_asleep(thread);
    device->abandon(why);
  }
};

TEST_F(ABusyDevice, LetsGoOfWhoWaitsForAStreamOnceItIsAbandoned) {
  expect_let_go([&] { stream->synchronize(); });
}

TEST_F(ABusyDevice, LetsGoOfWhoWaitsForAnEventOnceItIsAbandoned) {
  Event const event = device->make_event();
  stream->record(event);
  expect_let_go([&] { event.wait(); });
}

TEST_F(ABusyDevice, LetsGoOfWhoWaitsForAllOfItOnceItIsAbandoned) {
  expect_let_go([&] { device->synchronize(); });
}

TEST_F(ABusyDevice, RefusesWhatComesAfterItWasAbandonedAndSaysWhy) {
  device->abandon(why);
  device->abandon(Error(ErrorKind::device_lost, "Somebody else was slower."));
  EXPECT_TRUE(device->abandoned());
  EXPECT_STREQ(device->lost()->what(), why.what());
  std::array<std::byte, 16> host{};
  EXPECT_THAT([&] { stream->upload(memory.bytes(), host); }, ThrowsMessage<Error>(StrEq(why.what())));
  EXPECT_THAT([&] { static_cast<void>(stream->idle()); }, ThrowsMessage<Error>(StrEq(why.what())));
  EXPECT_THAT([&] { static_cast<void>(device->allocate(16)); }, ThrowsMessage<Error>(StrEq(why.what())));
}

TEST_F(ABusyDevice, RunsNothingThatWasStillToCome) {
  std::atomic<bool> ran{false};
  stream->launch(1, [&](std::uint32_t) { ran = true; });
  device->abandon(why);
  gate.open();
  stream.reset();
  EXPECT_FALSE(ran);
}

TEST_F(ABusyDevice, HoldsOnToMemoryThatItsKernelMayStillWriteTo) {
  device->abandon(why);
  memory = {};  // The sanitizer would see the kernel write to it.
  EXPECT_EQ(device->outstanding().allocations, 0u) << "for its owner it is gone";
  gate.open();
  stream.reset();
}

TEST_F(ABusyDevice, KeepsWhatItIsGivenUntilItsKernelHasEnded) {
  auto thing = std::make_shared<int>(7);
  std::weak_ptr<int> const watched = thing;
  std::atomic<bool> outlived{false};
  struct Last {
    std::atomic<bool>& told;
    std::atomic<bool> const& ended;
    Last(std::atomic<bool>& to_tell, std::atomic<bool> const& has_ended) : told(to_tell), ended(has_ended) {}
    Last(Last const&) = delete;
    Last& operator=(Last const&) = delete;
    ~Last() { told = ended.load(); }
  };
  std::atomic<bool> ended{false};
  stream->launch(1, [](std::uint32_t) {});
  device->keep(std::make_shared<Last>(outlived, ended));
  device->keep(std::move(thing));
  // A lane that leaves its streams behind does so.
  device->keep(std::make_shared<Stream>(std::move(*stream)));
  stream.reset();
  device->keep(std::make_shared<DeviceMemory>(std::move(memory)));
  device->abandon(why);
  EXPECT_FALSE(watched.expired());
  std::jthread const opener([&, waiting = gettid()] {
    support::await_asleep(waiting);  // It sleeps in the device's destructor.
    ended = true;
    gate.open();
  });
  device.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_TRUE(outlived) << "it went before the kernel had ended";
}

}  // namespace
}  // namespace penstock::cpu
