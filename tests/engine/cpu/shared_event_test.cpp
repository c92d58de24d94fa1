// SPDX-License-Identifier: Apache-2.0
// Events of several processes, on CPU devices.
#include "engine/cpu/shared_event.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "support/gate.hpp"
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock::cpu {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Two devices that know of each other by handles only, as if each had a process of its own. The first records behind a
/// kernel, which ends when the gate opens: at the latest when the test does.
struct SharedEventOfTwo : testing::Test {
  support::Gate gate;
  CpuDevice first{CpuOptions{.compute_threads = 1}}, second{CpuOptions{.ordinal = 1, .compute_threads = 1}};
  std::optional<Stream> busy{first.make_stream()}, waiting{second.make_stream()};
  std::optional<Event> made{first.make_event({.interprocess = true})}, opened{second.open_event(made->handle())};
  /// Atomic, as is the sum below, since the thread sanitizer does not know that two mappings are one memory.
  std::atomic<int> result{0};

  void record_behind_the_gate() {
    busy->launch(1, [this](std::uint32_t) {
      gate.pass();
      result = 7;
    });
    busy->record(*made);
    gate.await_reached();
  }
  void TearDown() override {
    gate.open();
    waiting.reset();
    busy.reset();
    opened.reset();
    made.reset();
    EXPECT_EQ(first.outstanding(), Outstanding{});
    EXPECT_EQ(second.outstanding(), Outstanding{});
  }
};

TEST_F(SharedEventOfTwo, IsPassedBeforeTheFirstRecord) {
  EXPECT_TRUE(opened->passed());
  opened->wait();
  waiting->wait(*opened);
  waiting->synchronize();
}

TEST_F(SharedEventOfTwo, HoldsAStreamUntilTheOtherGotThere) {
  record_behind_the_gate();
  int seen = 0;
  waiting->wait(*opened);
  waiting->launch(1, [&](std::uint32_t) { seen = result.load(); });
  EXPECT_FALSE(waiting->idle());
  EXPECT_FALSE(opened->passed());
  gate.open();
  waiting->synchronize();
  EXPECT_EQ(seen, 7);
  EXPECT_TRUE(opened->passed());
}

TEST_F(SharedEventOfTwo, HoldsAThreadUntilTheOtherGotThere) {
  record_behind_the_gate();
  int seen = 0;
  std::thread thread([&] {
    opened->wait();
    seen = result.load();
  });
  gate.open();
  thread.join();
  EXPECT_EQ(seen, 7);
}

TEST_F(SharedEventOfTwo, GoesBackAndForthALongWay) {
  // Each adds to what it finds, behind the other; no thread of the host waits in between.
  constexpr int rounds = 300;
  Event const back = second.make_event({.interprocess = true});
  Event const heard = first.open_event(back.handle());
  std::atomic<int> sum{0};
  for (int i = 0; i < rounds; ++i) {
    busy->wait(heard);
    busy->launch(1, [&sum, i](std::uint32_t) { sum = 2 * i - sum; });
    busy->record(*made);
    waiting->wait(*opened);
    waiting->launch(1, [&](std::uint32_t) { ++sum; });
    waiting->record(back);
  }
  waiting->synchronize();
  int expected = 0;
  for (int i = 0; i < rounds; ++i) expected = 2 * i - expected + 1;
  EXPECT_EQ(sum, expected);
}

TEST_F(SharedEventOfTwo, IsNotRecordedInAnotherStreamWhileTheOneBeforeHolds) {
  record_behind_the_gate();
  {
    Stream const other = first.make_stream();
    EXPECT_THAT([&] { other.record(*made); }, ThrowsMessage<Error>(HasSubstr("wait for it first")));
    busy->record(*made);
    gate.open();
    busy->synchronize();
    other.record(*made);
    other.synchronize();
  }
  EXPECT_TRUE(opened->passed());
}

TEST_F(SharedEventOfTwo, HoldsAStreamAlsoWhenItDies) {
  record_behind_the_gate();
  waiting->wait(*opened);
  opened.reset();
  EXPECT_FALSE(waiting->idle());
  gate.open();
  waiting->synchronize();
  EXPECT_EQ(result, 7);
}

TEST_F(SharedEventOfTwo, LetsGoOfAStreamWhoseDeviceIsLost) {
  record_behind_the_gate();
  waiting->wait(*opened);
  second.abandon(Error(ErrorKind::device_lost, "It takes too long."));
  EXPECT_THROW(opened->wait(), Error);
  waiting.reset();
}

TEST_F(SharedEventOfTwo, IsPassedWhenTheDeviceThatRecordedIsAbandoned) {
  record_behind_the_gate();
  waiting->wait(*opened);
  first.abandon(Error(ErrorKind::device_lost, "It takes too long."));
  waiting->synchronize();
  EXPECT_TRUE(opened->passed());
}

TEST_F(SharedEventOfTwo, IsNotFoundOnceItIsGone) {
  EventHandle const handle = made->handle();
  made.reset();
  EXPECT_THAT([&] { static_cast<void>(second.open_event(handle)); }, ThrowsMessage<Error>(HasSubstr("is not there")));
  // A file that takes its descriptor is not taken for it.
  int const other = memfd_create("other", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(other, 4096), 0);
  EXPECT_THAT([&] { static_cast<void>(second.open_event(handle)); }, ThrowsMessage<Error>(HasSubstr("is not there")));
  close(other);
}

/// Place where a handle has the number of the page's descriptor.
constexpr std::size_t descriptor_at = 32;

int descriptor_of(EventHandle const& handle) {
  std::int64_t number = 0;
  std::memcpy(&number, handle.bytes.data() + descriptor_at, sizeof(number));
  return static_cast<int>(number);
}
EventHandle with_descriptor(EventHandle handle, std::int64_t number) {
  std::memcpy(handle.bytes.data() + descriptor_at, &number, sizeof(number));
  return handle;
}

TEST_F(SharedEventOfTwo, HasAPageThatNoProcessCanCut) {
  std::string const path = "/proc/self/fd/" + std::to_string(descriptor_of(made->handle()));
  int const peer = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(peer, 0);
  EXPECT_NE(ftruncate(peer, 0), 0);
  EXPECT_NE(ftruncate(peer, 8192), 0);
  EXPECT_NE(fcntl(peer, F_ADD_SEALS, F_SEAL_WRITE), 0);
  close(peer);
}

TEST_F(SharedEventOfTwo, IsNoFileThatHasItsBytes) {
  std::array<char, 4096> page;
  ASSERT_EQ(pread(descriptor_of(made->handle()), page.data(), page.size(), 0), 4096);
  auto const seals_of_memory = F_SEAL_SHRINK | F_SEAL_GROW;
  std::FILE* const file = std::tmpfile();
  int const plain = memfd_create("plain", MFD_CLOEXEC),
            sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  for (int const other : {fileno(file), plain, sealed}) {
    ASSERT_EQ(pwrite(other, page.data(), page.size(), 0), 4096);
    if (other == sealed) {
      ASSERT_EQ(fcntl(sealed, F_ADD_SEALS, seals_of_memory), 0);
    }
    EventHandle const handle = with_descriptor(made->handle(), other);
    EXPECT_THAT([&] { static_cast<void>(second.open_event(handle)); }, ThrowsMessage<Error>(HasSubstr("is not there")));
    std::array<char, 4096> now;
    ASSERT_EQ(pread(other, now.data(), now.size(), 0), 4096);
    EXPECT_EQ(now, page) << "it was changed";
  }
  std::fclose(file);
  close(plain);
  close(sealed);
}

/// Another process that has an event, and no device: it does what it is told by its pipe.
struct SharedEventOfAProcess : testing::Test {
  int told[2] = {}, answers[2] = {};
  pid_t child = 0;
  EventHandle handle;

  void SetUp() override {
    ASSERT_EQ(pipe(told), 0);
    ASSERT_EQ(pipe(answers), 0);
    child = fork();  // There is no device yet, so it has one thread.
    if (child == 0) obey();
    close(told[0]);
    ASSERT_EQ(read(answers[0], &handle, sizeof(handle)), static_cast<ssize_t>(sizeof(handle)));
  }
  void TearDown() override {
    if (child != 0) end_it();
    close(answers[0]);
    close(answers[1]);
  }
  [[noreturn]] void obey() const {
    close(told[1]);
    auto const event = SharedEvent::make();
    EventHandle const mine = event->handle();
    char what = 0;
    bool fine = write(answers[1], &mine, sizeof(mine)) == sizeof(mine);
    while (fine && read(told[0], &what, 1) == 1) {
      what == 'r' ? static_cast<void>(event->record()) : event->pass(event->recorded());
      fine = write(answers[1], &what, 1) == 1;
    }
    _exit(0);
  }
  void tell(char what) const {
    ASSERT_EQ(write(told[1], &what, 1), 1);
    ASSERT_EQ(read(answers[0], &what, 1), 1);
  }
  void end_it() {
    close(told[1]);
    waitpid(std::exchange(child, 0), nullptr, 0);
  }
};

TEST_F(SharedEventOfAProcess, HoldsAStreamUntilThatOneGotThere) {
  CpuDevice device{CpuOptions{.compute_threads = 1}};
  Stream const waiting = device.make_stream();
  Event const opened = device.open_event(handle);
  tell('r');
  waiting.wait(opened);
  EXPECT_FALSE(opened.passed());
  EXPECT_FALSE(waiting.idle());
  tell('p');
  waiting.synchronize();
  EXPECT_TRUE(opened.passed());
}

TEST_F(SharedEventOfAProcess, IsPassedIfThatOneEnds) {
  CpuDevice device{CpuOptions{.compute_threads = 1}};
  Stream const waiting = device.make_stream();
  Event const opened = device.open_event(handle);
  tell('r');
  waiting.wait(opened);
  end_it();
  waiting.synchronize();
  opened.wait();
  EXPECT_TRUE(opened.passed());
}

}  // namespace
}  // namespace penstock::cpu
