// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/bound_thread.hpp"

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include "engine/machine/cpu_set.hpp"

namespace penstock {
namespace {

/// No machine that runs these tests has it.
constexpr int absent_cpu = 8191;

std::string name_of_this_thread() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

TEST(BoundThread, RunsOnItsCpusFromItsFirstInstruction) {
  for (int const cpu : affinity_of_this_thread()) {
    CpuSet allowed;
    int current = -1;
    BoundThread thread("ps-test", {cpu}, [&](std::stop_token const&) {
      current = sched_getcpu();
      allowed = affinity_of_this_thread();
    });
    thread.join();
    EXPECT_EQ(thread.binding_error(), std::nullopt);
    EXPECT_EQ(allowed, CpuSet{cpu});
    EXPECT_EQ(current, cpu);
  }
}

TEST(BoundThread, RunsWhereItsMakerMayWhenItHasNoCpus) {
  CpuSet allowed;
  BoundThread thread("ps-test", {}, [&](std::stop_token const&) { allowed = affinity_of_this_thread(); });
  thread.join();
  EXPECT_EQ(allowed, affinity_of_this_thread());
  EXPECT_EQ(thread.binding_error(), std::nullopt);
}

TEST(BoundThread, RunsAnywayWhenItsCpuIsNotThereAndSaysSo) {
  bool ran = false;
  BoundThread thread("ps-test", {absent_cpu}, [&](std::stop_token const&) { ran = true; });
  ASSERT_TRUE(thread.binding_error());
  EXPECT_NE(thread.binding_error()->find("8191"), std::string::npos) << *thread.binding_error();
  thread.join();
  EXPECT_TRUE(ran);
}

TEST(BoundThread, SaysWhenSomeOfItsCpusAreNotThereAndUsesTheRest) {
  int const first = *affinity_of_this_thread().begin();
  CpuSet allowed;
  BoundThread thread("ps-test", {first, absent_cpu},
                     [&](std::stop_token const&) { allowed = affinity_of_this_thread(); });
  thread.join();
  ASSERT_TRUE(thread.binding_error());
  EXPECT_EQ(thread.binding_error()->find("CPUs 8191 of"), 0u) << *thread.binding_error();
  EXPECT_EQ(allowed, CpuSet{first});
}

TEST(BoundThread, RefusesNonsenseCpusWithoutHarm) {
  for (int const cpu : {-1, 2'000'000'000}) {
    BoundThread thread("ps-test", {cpu}, [](std::stop_token const&) {});
    EXPECT_TRUE(thread.binding_error()) << cpu;
  }
}

TEST(BoundThread, LeavesItsMakersCpusAlone) {
  auto const before = affinity_of_this_thread();
  BoundThread thread("ps-test", {*before.begin()}, [](std::stop_token const&) {});
  thread.join();
  EXPECT_EQ(affinity_of_this_thread(), before);
}

TEST(BoundThread, ShowsItsNameToTheSystem) {
  std::string shown;
  BoundThread thread("ps-lane-0", {}, [&](std::stop_token const&) { shown = name_of_this_thread(); });
  thread.join();
  EXPECT_EQ(shown, "ps-lane-0");
}

TEST(BoundThread, ShowsTheSystemWhatFitsOfALongName) {
  std::string shown;
  BoundThread thread("ps-producer-1000", {}, [&](std::stop_token const&) { shown = name_of_this_thread(); });
  thread.join();
  EXPECT_EQ(shown, "ps-producer-100");
  EXPECT_EQ(thread.name(), "ps-producer-1000");
}

TEST(BoundThread, AsksItsBodyToStopAndWaitsForItWhenItDies) {
  bool stopped = false;
  {
    BoundThread const thread("ps-test", {}, [&](std::stop_token const& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      stopped = true;
    });
  }
  EXPECT_TRUE(stopped);
}

TEST(BoundThread, HandsOverWhatEscapedItsBody) {
  BoundThread thread("ps-test", {}, [](std::stop_token const&) { throw std::runtime_error("broken pipe"); });
  try {
    thread.join();
    FAIL() << "join threw nothing";
  } catch (std::runtime_error const& error) {
    EXPECT_STREQ(error.what(), "broken pipe");
  }
  EXPECT_FALSE(thread.joinable());
  EXPECT_NO_THROW(thread.join()) << "it was handed over before";
}

TEST(BoundThread, ReportsWhatEscapedWhenNobodyAsks) {
  testing::internal::CaptureStderr();
  {
    BoundThread const thread("ps-test", {}, [](std::stop_token const&) { throw std::runtime_error("broken pipe"); });
  }
  {
    BoundThread const thread("ps-test", {}, [](std::stop_token const&) { throw 7; });
  }
  auto const text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("'ps-test' ended by an exception that no caller took: broken pipe"), std::string::npos) << text;
  EXPECT_NE(text.find("no caller took."), std::string::npos) << text;
}

TEST(BoundThread, EndsWhatItsBodyHoldsOnItsOwnThread) {
  struct Witness {
    explicit Witness(std::thread::id* told) : ended(told) {}
    std::thread::id* ended;
    ~Witness() { *ended = std::this_thread::get_id(); }
  };
  std::thread::id ran, ended;
  BoundThread thread("ps-test", {}, [&ran, witness = std::make_shared<Witness>(&ended)](std::stop_token const&) {
    ran = std::this_thread::get_id();
  });
  thread.join();
  EXPECT_EQ(ended, ran);
}

TEST(BoundThread, GoesOnWhileItsOwnerMoves) {
  std::latch moved(1);
  std::atomic<int> ended{0};
  {
    std::vector<BoundThread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back("ps-test", CpuSet{}, [&](std::stop_token const&) {
        moved.wait();
        ++ended;
      });
    }
    moved.count_down();
    threads.front() = BoundThread("ps-other", {}, [&](std::stop_token const&) { ++ended; });
    EXPECT_EQ(threads.front().name(), "ps-other");
  }
  EXPECT_EQ(ended, 6);
}

TEST(BoundThread, IsNothingByDefault) {
  BoundThread thread;
  EXPECT_FALSE(thread.joinable());
  EXPECT_EQ(thread.name(), "");
  EXPECT_EQ(thread.binding_error(), std::nullopt);
  thread.request_stop();
  EXPECT_NO_THROW(thread.join());
}

}  // namespace
}  // namespace penstock
