// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include "support/gate.hpp"

#include "engine/cpu/cpu_world.hpp"

namespace penstock::cpu {
namespace {

/// A stream whose kernels are run by the thread that launches them.
struct AComputingThread : CpuWorld {
  AComputingThread() { stream.compute_here(); }
  void TearDown() override {
    own.reset();
    CpuWorld::TearDown();
  }
  std::unique_ptr<Stream> own = std::make_unique<Stream>(device.make_stream());
  StreamRef const stream = *own;
};

TEST_F(AComputingThread, RunsWhatItLaunchesBeforeTheLaunchReturns) {
  std::thread::id by;
  stream.launch(1, [&](KernelBlock) { by = std::this_thread::get_id(); });
  EXPECT_EQ(by, std::this_thread::get_id());
  EXPECT_TRUE(stream.idle());
}

TEST_F(AComputingThread, SharesBlocksWithThreadsThatHaveNothingElseToDo) {
  std::atomic<int> blocks{0};
  // Some of these find the other threads asleep.
  for (int kernel = 0; kernel < 100; ++kernel) {
    std::latch both(2);
    // Each of the two waits for the other, so no thread can run both.
    stream.launch(2, [&](KernelBlock) {
      both.arrive_and_wait();
      ++blocks;
    });
    stream.synchronize();
  }
  EXPECT_EQ(blocks, 200);
}

TEST_F(AComputingThread, LeavesToOthersWhatCannotBeginYet) {
  support::Gate gate;
  Stream other = device.make_stream();
  Event opened = device.make_event();
  other.launch(1, [&](KernelBlock) { gate.pass(); });
  other.record(opened);
  stream.wait(opened);
  std::thread::id by;
  stream.launch(1, [&](KernelBlock) { by = std::this_thread::get_id(); });
  EXPECT_FALSE(stream.idle());
  gate.open();
  stream.synchronize();
  EXPECT_NE(by, std::thread::id());
  EXPECT_NE(by, std::this_thread::get_id());
}

TEST_F(AComputingThread, EndsItsKernelThoughAMoreUrgentOneWaits) {
  CpuDevice small{{.compute_threads = 1}};
  support::Gate gate;
  Stream held = small.make_stream(), urgent = small.make_stream({.priority = small.info().greatest_priority});
  Stream mine = small.make_stream();
  mine.compute_here();
  std::latch holds(1);
  held.launch(1, [&](KernelBlock) {
    holds.count_down();
    gate.pass();
  });
  holds.wait();
  urgent.launch(1, [](KernelBlock) {});
  int blocks = 0;
  mine.launch(10, [&](KernelBlock) { ++blocks; });
  EXPECT_EQ(blocks, 10);
  EXPECT_TRUE(mine.idle());
  gate.open();
}

TEST_F(AComputingThread, RunsWhatWasLaunchedBehindAKernelOfManyBlocks) {
  std::array<std::atomic<int>, 100> times{};
  std::atomic<bool> in_order{true};
  for (int kernel = 0; kernel < 50; ++kernel) {
    stream.launch(times.size(), [&, kernel](KernelBlock block) {
      in_order = in_order && times.at(static_cast<std::size_t>(static_cast<std::uint32_t>(block)))++ == kernel;
    });
  }
  stream.synchronize();
  EXPECT_TRUE(in_order) << "a block ran before all of the kernel before it had";
  for (auto const& one : times) EXPECT_EQ(one, 50);
}

TEST_F(AComputingThread, LosesTheDeviceIfItsKernelThrows) {
  stream.launch(1, [](KernelBlock) { throw std::runtime_error("broken"); });
  EXPECT_EQ(kind_thrown_by([&] { stream.synchronize(); }), ErrorKind::device_lost);
}

TEST_F(AComputingThread, FindsWhatManyLaunchAtOnce) {
  std::atomic<int> runs{0};
  {
    std::array<std::jthread, 4> threads;
    for (auto& thread : threads) {
      thread = std::jthread([&] {
        StreamRef const own = device.per_thread_default_stream();
        own.compute_here();
        for (int k = 0; k < 200; ++k) own.launch(3, [&](KernelBlock) { ++runs; });
        own.synchronize();
      });
    }
  }
  EXPECT_EQ(runs, 4 * 200 * 3);
}

}  // namespace
}  // namespace penstock::cpu
