// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/lent_thread.hpp"

#include <array>
#include <optional>
#include <string>
#include <thread>

#include "support/gate.hpp"
#include <gtest/gtest.h>
#include <pthread.h>

#include "penstock/machine/affinity.hpp"

namespace penstock {
namespace {

std::string name_of_this_thread() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

/// A thread of the application's, with a name of its own.
struct AThreadOfTheApplication : testing::Test {
  CpuSet const all = affinity_of_this_thread();
  CpuSet const one{*all.begin()};
};

TEST_F(AThreadOfTheApplication, IsNamedAndBoundForAsLongAsItIsLent) {
  std::thread([&] {
    pthread_setname_np(pthread_self(), "application");
    {
      LentThread const lent("ps-graph", one);
      EXPECT_EQ(name_of_this_thread(), "ps-graph");
      EXPECT_EQ(affinity_of_this_thread(), one);
    }
    EXPECT_EQ(name_of_this_thread(), "application");
    EXPECT_EQ(affinity_of_this_thread(), all);
  }).join();
}

TEST_F(AThreadOfTheApplication, IsAsItWasAlsoWhenAnotherThreadGivesItBack) {
  std::optional<LentThread> lent;
  support::Gate gate;
  std::thread thread([&] {
    pthread_setname_np(pthread_self(), "application");
    lent.emplace("ps-graph", one);
    gate.pass();
    EXPECT_EQ(name_of_this_thread(), "application");
    EXPECT_EQ(affinity_of_this_thread(), all);
  });
  gate.await_reached();
  lent.reset();
  gate.open();
  thread.join();
}

TEST_F(AThreadOfTheApplication, MayHaveEnded) {
  std::optional<LentThread> lent;
  std::thread([&] { lent.emplace("ps-graph", one); }).join();
  lent.reset();
  EXPECT_EQ(affinity_of_this_thread(), all) << "nobody else was moved";
}

TEST_F(AThreadOfTheApplication, WorksWhereItIsIfItsCpusAreRefused) {
  std::thread([&] {
    LentThread const lent("ps-graph", {8191});
    EXPECT_EQ(affinity_of_this_thread(), all);
  }).join();
}

}  // namespace
}  // namespace penstock
