// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "penstock/cpu/cpu_device.hpp"
#include "penstock/flow/pipeline.hpp"

namespace penstock {
namespace {

std::string name_of(pid_t thread) {
  std::ifstream comm("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(comm, name);
  return name;
}

/// oneTBB belongs to the whole application: its threads are only lent to a pipeline.
TEST(ThreadsThatOneTbbLends, AreNamedWhileTheyWorkAndAsTheyWereAfterwards) {
  cpu::CpuDevice device({.compute_threads = 1});
  std::set<pid_t> lent;
  std::atomic<int> inside{0};
  {
    Pipeline pipeline(device,
                      {.tile = {.input_bytes = 64}, .tiles = 8, .producers = 1, .consumers = 2, .parallel_sink = true});
    std::mutex mutex;
    int left = 200;
    pipeline.run(
        [&](Tile&) -> std::optional<std::size_t> {
          if (left-- == 0) return std::nullopt;
          return 1;
        },
        each_tile([](DeviceTile const&, StreamRef) { return std::size_t{0}; }),
        [&](Completion& completion) {
          // The first two meet, so one of them is on a thread of oneTBB's.
          if (completion.loan->sequence < 2) {
            inside.fetch_add(1);
            while (inside < 2) std::this_thread::yield();
          }
          std::scoped_lock const lock(mutex);
          if (gettid() != getpid() && name_of(gettid()) == "ps-graph") lent.insert(gettid());
        });
  }
  EXPECT_FALSE(lent.empty());
  for (pid_t const thread : lent) EXPECT_NE(name_of(thread), "ps-graph");
}

}  // namespace
}  // namespace penstock
