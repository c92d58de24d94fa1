// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/engines.hpp"

#include <atomic>
#include <latch>
#include <map>
#include <mutex>
#include <string>

#include "support/calls.hpp"
#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <pthread.h>

#include "engine/cpu/cpu_world.hpp"

namespace penstock::cpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string name_of_this_thread() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

/// Record of what engines have done, in the order in which they said so. It may have them wait before they go on.
class Watch {
 public:
  Observer observer() {
    return [this](Executed const& executed) {
      {
        std::lock_guard const lock(mutex_);
        seen_.push_back(executed);
        threads_[executed.engine] = name_of_this_thread();
      }
      if (all_at_work != nullptr && executed.engine != Engine::callback) all_at_work->arrive_and_wait();
      if (executed.engine == Engine::upload) upload_gate.pass();
    };
  }
  std::vector<Executed> seen() const {
    std::lock_guard const lock(mutex_);
    return seen_;
  }
  std::vector<std::uint64_t> streams_of(Engine engine) const {
    std::vector<std::uint64_t> streams;
    for (Executed const& executed : seen()) {
      if (executed.engine == engine) streams.push_back(executed.stream);
    }
    return streams;
  }
  std::string thread_of(Engine engine) const {
    std::lock_guard const lock(mutex_);
    return threads_.at(engine);
  }

  support::Gate upload_gate;
  std::latch* all_at_work = nullptr;

 private:
  mutable std::mutex mutex_;
  std::vector<Executed> seen_;
  std::map<Engine, std::string> threads_;
};

/// Comes before the device, which tells it of its last work while it dies.
struct Watching {
  Watch watch;
};

/// A device under watch, whose one upload thread stops at a gate after each upload until that is opened.
struct WatchedDevice : Watching, CpuWorld {
  WatchedDevice() : CpuWorld({.compute_threads = 1, .observer = watch.observer()}) {}
  ~WatchedDevice() override { watch.upload_gate.open(); }
};

TEST_F(WatchedDevice, RunsAnUploadADownloadAndAKernelAtOnce) {
  // None of the three gets past the latch before all are there.
  std::latch all_at_work(3);
  watch.all_at_work = &all_at_work;
  watch.upload_gate.open();
  DeviceMemory const other = device.allocate(bytes);
  std::vector<std::byte> back(bytes);
  Stream const up = device.make_stream();
  Stream const work = device.make_stream();
  Stream const down = device.make_stream();
  up.upload(memory.bytes(), host);
  kernels.fill(work, other.bytes(), std::byte{1});
  down.download(back, other.bytes().first(0));
  device.synchronize();
  EXPECT_EQ(watch.seen().size(), 3u);
}

TEST_F(WatchedDevice, NamesItsThreads) {
  support::Calls calls;
  support::NotedCallback callback(calls, 1);
  watch.upload_gate.open();
  Stream const stream = device.make_stream();
  stream.upload(memory.bytes(), host);
  kernels.add_one(stream, memory.bytes());
  stream.download(host, memory.bytes());
  stream.call(callback);
  stream.synchronize();
  EXPECT_EQ(watch.thread_of(Engine::upload), "ps-upload");
  EXPECT_EQ(watch.thread_of(Engine::download), "ps-download");
  EXPECT_EQ(watch.thread_of(Engine::compute), "ps-compute-0");
  EXPECT_THAT(watch.thread_of(Engine::callback), HasSubstr("ps-callback-"));
}

TEST_F(WatchedDevice, TellsOfEachOperationWithItsStreamAndTimes) {
  watch.upload_gate.open();
  StreamRef const legacy = device.legacy_default_stream();
  Stream const stream = device.make_stream();
  legacy.upload(memory.bytes(), host);
  stream.upload(memory.bytes(), host);
  stream.upload(memory.bytes(), host);
  device.synchronize();
  auto const seen = watch.seen();
  ASSERT_THAT(watch.streams_of(Engine::upload), ElementsAre(0, 1, 1));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_LE(seen[i].start, seen[i].end);
    if (i == 0) continue;
    EXPECT_LE(seen[i - 1].end, seen[i].start) << "one engine did two things at once";
  }
}

TEST_F(WatchedDevice, CopiesTheMoreUrgentFirstAndElseInOrderOfArrival) {
  Stream const blocker = device.make_stream();
  Stream const second = device.make_stream();
  Stream const third = device.make_stream();
  Stream const urgent = device.make_stream({.priority = -1});
  blocker.upload(memory.bytes(), host);
  watch.upload_gate.await_reached();
  second.upload(memory.bytes(), host);
  third.upload(memory.bytes(), host);
  second.upload(memory.bytes(), host);
  urgent.upload(memory.bytes(), host);
  watch.upload_gate.open();
  device.synchronize();
  // The second upload of `second` arrives at the engine when the first has passed.
  EXPECT_THAT(watch.streams_of(Engine::upload), ElementsAre(1, 4, 2, 3, 2));
}

TEST_F(WatchedDevice, RunsTheMoreUrgentKernelFirst) {
  std::vector<int> order;  // One compute thread writes it.
  Stream const blocker = device.make_stream();
  Stream const least = device.make_stream({.priority = 0});
  Stream const most = device.make_stream({.priority = -5});
  Stream const middle = device.make_stream({.priority = -2});
  auto still = kernels.hold(blocker);
  still.await_reached();
  least.launch(1, [&](std::uint32_t) { order.push_back(0); });
  most.launch(1, [&](std::uint32_t) { order.push_back(-5); });
  middle.launch(1, [&](std::uint32_t) { order.push_back(-2); });
  still.open();
  device.synchronize();
  EXPECT_THAT(order, ElementsAre(-5, -2, 0));
}

TEST_F(WatchedDevice, LetsAMoreUrgentKernelInBetweenTheBlocksOfAnother) {
  std::vector<std::string> order;
  support::Gate gate;
  Stream const patient = device.make_stream();
  Stream const urgent = device.make_stream({.priority = -1});
  patient.launch(3, [&](std::uint32_t block) {
    order.push_back("patient " + std::to_string(block));
    if (block == 0) gate.pass();
  });
  gate.await_reached();
  urgent.launch(2, [&](std::uint32_t block) { order.push_back("urgent " + std::to_string(block)); });
  gate.open();
  device.synchronize();
  EXPECT_THAT(order, ElementsAre("patient 0", "urgent 0", "urgent 1", "patient 1", "patient 2"));
}

struct FourThreads : CpuWorld {};

TEST_F(FourThreads, ShareTheBlocksOfAKernel) {
  // Each block waits for the others, so no thread can have two of them.
  std::latch all_inside(4);
  Stream const stream = device.make_stream();
  stream.launch(4, [&](std::uint32_t) { all_inside.arrive_and_wait(); });
  stream.synchronize();
}

TEST_F(FourThreads, RunEachBlockOnce) {
  constexpr std::uint32_t blocks = 2'000'000;  // Enough for claims to collide on two busy cores.
  std::vector<std::atomic<std::uint8_t>> runs(blocks);
  Stream const stream = device.make_stream();
  stream.launch(blocks, [&](std::uint32_t block) { runs[block].fetch_add(1, std::memory_order_relaxed); });
  stream.synchronize();
  for (auto const& run : runs) ASSERT_EQ(run, 1);
}

/// Asks the device when it dies: a kernel's captures may do so, since they die while no lock is held.
class LastQuestion {
 public:
  LastQuestion(EventRef behind, bool& too_late) : behind_(behind), too_late_(too_late) {}
  LastQuestion(LastQuestion const&) = delete;
  LastQuestion& operator=(LastQuestion const&) = delete;
  ~LastQuestion() { too_late_ = behind_.passed(); }

 private:
  EventRef behind_;
  bool& too_late_;
};

TEST_F(FourThreads, DestroyAKernelBeforeItsStreamGoesOn) {
  bool too_late = true;
  Stream const stream = device.make_stream();
  Event const behind = device.make_event();
  support::Gate gate;
  auto captured = std::make_shared<LastQuestion>(behind, too_late);
  stream.launch(2, [&gate, captured = std::move(captured)](std::uint32_t) { gate.pass(); });
  stream.record(behind);
  gate.open();
  stream.synchronize();
  EXPECT_FALSE(too_late);
}

TEST_F(FourThreads, CallBackForTwoStreamsAtOnce) {
  class Meeting final : public StreamCallback {
   public:
    void called(StreamStatus) noexcept override { both_.arrive_and_wait(); }

   private:
    std::latch both_{2};
  };
  Meeting meeting;
  Stream const one = device.make_stream();
  Stream const other = device.make_stream();
  one.call(meeting);
  other.call(meeting);
  device.synchronize();
}

}  // namespace
}  // namespace penstock::cpu
