// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/turnstile.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Visitor {
  std::uint64_t sequence = 0;
};

/// A turnstile for four at once, and the test's thread.
struct ATurnstile : testing::Test {
  void bring(std::uint64_t sequence) {
    Visitor& visitor = visitors.at(sequence);
    visitor.sequence = sequence;
    turnstile.bring(visitor, sequence, [this](Visitor& one) { passed.push_back(one.sequence); });
  }
  BasicTurnstile<Visitor> turnstile{4};
  std::array<Visitor, 16> visitors{};
  std::vector<std::uint64_t> passed;
};

TEST_F(ATurnstile, KeepsWhatComesEarlyUntilAllBeforeItHaveCome) {
  bring(2);
  bring(1);
  EXPECT_THAT(passed, IsEmpty());
  bring(0);
  EXPECT_THAT(passed, ElementsAre(0, 1, 2));
  bring(3);
  EXPECT_THAT(passed, ElementsAre(0, 1, 2, 3));
}

TEST_F(ATurnstile, GoesRoundItsPlacesAsOftenAsItMust) {
  for (std::uint64_t from = 0; from < 16; from += 4) {
    for (std::uint64_t const i : {3U, 1U, 2U, 0U}) bring(from + i);
  }
  std::vector<std::uint64_t> all(16);
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_EQ(passed, all);
}

/// Seen to fail if a thread that brings lets pass whatever another one does.
TEST_F(ATurnstile, LetsPassWhatIsBroughtWhileAnotherPasses) {
  turnstile.bring(visitors[0], 0, [this](Visitor& one) {
    passed.push_back(one.sequence);
    if (&one == visitors.data()) {
      bring(2);
      bring(1);
      EXPECT_THAT(passed, ElementsAre(0)) << "one passes at a time";
    }
  });
  EXPECT_THAT(passed, ElementsAre(0, 1, 2));
}

/// Atomics that call `on_empty` once where a place was found empty, before the thread that looked does anything else.
struct LookedAtAtomics : StandardAtomics {
  static std::function<void()>& on_empty() {
    static std::function<void()> call;
    return call;
  }
  template <class Value>
  class Atomic : public std::atomic<Value> {
   public:
    using std::atomic<Value>::atomic;
    Value load(std::memory_order order) const {
      Value const value = std::atomic<Value>::load(order);
      if (auto const call = value == Value{} ? std::exchange(on_empty(), {}) : std::function<void()>()) call();
      return value;
    }
  };
};

/// Seen to fail if the thread that lets pass does not look again: if it takes all that was counted for seen, and if it
/// counts but ends.
TEST(ATurnstileThatIsLookedAt, LetsPassWhatIsBroughtRightBehindTheLastLook) {
  BasicTurnstile<Visitor, LookedAtAtomics> turnstile(4);
  std::array<Visitor, 3> visitors{{{0}, {1}, {2}}};
  std::vector<std::uint64_t> passed;
  auto const bring = [&](std::uint64_t sequence) {
    turnstile.bring(visitors.at(sequence), sequence, [&](Visitor& one) { passed.push_back(one.sequence); });
  };
  LookedAtAtomics::on_empty() = [&] {
    EXPECT_THAT(passed, ElementsAre(0));
    bring(2);
    bring(1);
    EXPECT_THAT(passed, ElementsAre(0)) << "one lets pass at a time";
  };
  bring(0);
  EXPECT_THAT(passed, ElementsAre(0, 1, 2));
}

/// Seen to fail if each thread lets pass what it finds, and if items pass as they come.
TEST(ATurnstileOfManyThreads, LetsEachPassOnceInItsSequence) {
  constexpr std::size_t threads = 4, at_once = 8, items = 20'000;
  BasicTurnstile<Visitor> turnstile(at_once);
  std::vector<Visitor> visitors(items);
  std::vector<std::uint64_t> passed;
  passed.reserve(items);
  std::atomic<std::uint64_t> next{0}, through{0};
  {
    std::vector<std::jthread> all;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      all.emplace_back([&, thread] {
        std::minstd_rand random(static_cast<unsigned>(thread) + 1);
        for (std::uint64_t mine = next++; mine < items; mine = next++) {
          while (mine >= through + at_once) std::this_thread::yield();
          if (random() % 8 == 0) std::this_thread::yield();
          visitors[mine].sequence = mine;
          turnstile.bring(visitors[mine], mine, [&](Visitor& one) {
            passed.push_back(one.sequence);
            through.fetch_add(1);
          });
        }
      });
    }
  }
  ASSERT_EQ(passed.size(), items);
  for (std::uint64_t i = 0; i < items; ++i) ASSERT_EQ(passed[i], i);
}

}  // namespace
}  // namespace penstock
