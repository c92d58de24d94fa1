// SPDX-License-Identifier: Apache-2.0
// Each allocation of a small run fails once, by itself and with those behind it.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/lane_set.hpp"

namespace {

/// Allocations up to the first that fails.
std::atomic<long> until_failure{1L << 40};
std::atomic<long> failures_in_a_row{1};  ///< Number of allocations that fail in a row.

bool fails() noexcept {
  long const left = until_failure.fetch_sub(1, std::memory_order_relaxed) - 1;
  return left <= 0 && left > -failures_in_a_row.load(std::memory_order_relaxed);
}
void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails()) return nullptr;
  std::size_t const rounded = (bytes + alignment) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded);
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const memory = allocate(bytes, alignment)) return memory;
  throw std::bad_alloc();
}
/// Must not be inlined: the compiler would see memory of `new` that is given to `free`.
[[gnu::noinline]] void give_back(void* memory) noexcept {
  std::free(memory);
}
constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes, usual);
}
void* operator new[](std::size_t bytes) {
  return allocate_or_throw(bytes, usual);
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return allocate(bytes, usual);
}
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
  return allocate(bytes, usual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace penstock {
namespace {

/// Exit code of a run.
enum class Ending : int { as_ever = 0, with_a_failure = 1, broken = 2 };

/// Two streams, the legacy stream, events and a callback: every kind of operation and of dependence.
Ending run_streams() {
  struct Called final : StreamCallback {
    std::atomic<int> times{0};
    void called(StreamStatus) noexcept override { ++times; }
  };
  std::array<std::byte, 64> host{};
  Called called;
  std::atomic<int> blocks{0};
  try {
    cpu::CpuDevice device({.compute_threads = 2});
    Stream const first = device.make_stream({.blocking = true});
    Stream const second = device.make_stream();
    Event const event = device.make_event();
    DeviceMemory const memory = device.allocate(64);
    int launched = 0;
    bool failed = false;
    auto const may_fail = [&](auto const& ask) {
      try {
        ask();
      } catch (std::bad_alloc const&) {
        failed = true;
      }
    };
    for (int round = 0; round < 3; ++round) {
      may_fail([&] { first.upload(memory.bytes(), host); });
      may_fail([&] { first.record(event); });
      may_fail([&] { second.wait(event); });
      for (StreamRef const stream : {StreamRef(first), StreamRef(second), device.legacy_default_stream()}) {
        may_fail([&] {
          stream.launch(2, [&](std::uint32_t) { ++blocks; });
          ++launched;
        });
      }
      may_fail([&] { second.call(called); });
      may_fail([&] { second.download(host, memory.bytes()); });
    }
    device.synchronize();
    if (blocks != 2 * launched || device.lost()) return Ending::broken;
    return failed ? Ending::with_a_failure : Ending::as_ever;
  } catch (std::bad_alloc const&) {
  } catch (Error const&) {
  }
  return Ending::with_a_failure;
}

/// Six tiles through a lane; the work of one of them throws.
Ending run_lane() {
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};
  static constexpr std::size_t tiles = 6;
  alignas(256) std::array<std::byte, tiles * 256> slab{};
  std::array<std::atomic<int>, tiles> completed{};
  std::atomic<std::size_t> all_completed{0};
  std::atomic<bool> failed{false};
  std::atomic<bool> lane_gave_up{false};
  std::size_t submitted = 0;
  try {
    Pool pool(slab, shape, tiles);
    cpu::CpuDevice device({.compute_threads = 1, .callback_threads = 1});
    Stages const stages = on_device([](DeviceTile const& tile, StreamRef stream) {
      stream.launch(1, [input = tile.input](KernelBlock block) {
        for (std::byte& byte : input.in(block)) byte ^= std::byte{1};
      });
      return tile.input.size();
    });
    {
      LaneSet lanes({{&device, {}}}, shape, tiles, {.flight = {.slots = 2}, .batch = 2}, stages,
                    [&](Completion completion) {
                      ++completed[completion.loan->sequence];
                      if (!completion.ok()) failed = true;
                      if (completion.outcome == Outcome::failed && completion.failure->kind == ErrorKind::device_lost)
                        lane_gave_up = true;
                      completion.loan = {};
                      ++all_completed;
                    });
      for (std::size_t i = 0; i < tiles; ++i) {
        Loan loan = pool.borrow();
        loan->sequence = i;
        loan->filled = 256;
        if (lanes.submit(loan)) ++submitted;
      }
      while (all_completed != submitted) std::this_thread::yield();
    }
    if (pool.on_loan() != 0) return Ending::broken;
  } catch (std::bad_alloc const&) {
    failed = true;
  } catch (Error const&) {
    failed = true;
  }
  for (std::size_t i = 0; i < tiles; ++i) {
    if (completed[i] > 1) return Ending::broken;
  }
  if (all_completed != submitted) return Ending::broken;
  if (lane_gave_up && failures_in_a_row == 1) return Ending::broken;  // One refusal costs a batch, and not the lane.
  return failed ? Ending::with_a_failure : Ending::as_ever;
}

/// Runs `run` in a process of its own in which the `nth` allocation fails, and some behind it. Returns true once a run
/// makes fewer.
bool survives(Ending (*run)(), long nth, long in_a_row) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    failures_in_a_row = in_a_row;
    until_failure = nth;
    Ending const ending = run();
    bool const reached = until_failure <= 0;
    if (!reached && ending != Ending::as_ever) std::_Exit(static_cast<int>(Ending::broken));
    std::_Exit(reached ? static_cast<int>(ending) : 100);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "allocation " << nth << " and " << in_a_row - 1 << " more: signal "
                                 << WTERMSIG(status) << (WTERMSIG(status) == SIGALRM ? ", it hung" : "");
  if (!WIFEXITED(status)) return true;
  EXPECT_NE(WEXITSTATUS(status), static_cast<int>(Ending::broken)) << "allocation " << nth;
  return WEXITSTATUS(status) == 100;
}

constexpr long for_good = 1L << 40;

/// The parameter is how many allocations fail in a row.
struct FailedAllocations : testing::TestWithParam<long> {
  void sweep(Ending (*run)()) {
    long nth = 1;
    while (!survives(run, nth, GetParam())) ++nth;
    EXPECT_GT(nth, 20) << "hardly anything was allocated";
  }
};

TEST_P(FailedAllocations, LeaveStreamsThatComeToTheirEnd) {
  sweep(run_streams);
}
TEST_P(FailedAllocations, LeaveEachTileOneCompletion) {
  sweep(run_lane);
}
INSTANTIATE_TEST_SUITE_P(InARow, FailedAllocations, testing::Values(1, 3, 30, for_good));

}  // namespace
}  // namespace penstock
