// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/arrivals.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Arrivals, ComeInTheirOrderAndTheFirstIsToldToSend) {
  Arrivals arrivals;
  std::vector<Journey> journeys(3);
  EXPECT_EQ(arrivals.take(), nullptr);
  EXPECT_TRUE(arrivals.push(journeys[2]));
  EXPECT_FALSE(arrivals.push(journeys[0]));
  EXPECT_FALSE(arrivals.push(journeys[1]));
  Journey* const first = arrivals.take();
  ASSERT_EQ(first, &journeys[2]);
  ASSERT_EQ(first->next, &journeys[0]);
  ASSERT_EQ(first->next->next, &journeys[1]);
  EXPECT_EQ(journeys[1].next, nullptr);
  EXPECT_EQ(arrivals.take(), nullptr);
  EXPECT_TRUE(arrivals.push(journeys[0]));
}

/// Every journey is pushed again as soon as it was taken, by one of several threads; whoever is told to send does.
TEST(Arrivals, AreAllTakenOnceWhoeverPushes) {
  constexpr unsigned threads = 4;
  constexpr std::uint64_t rounds = 5000;
  Arrivals arrivals;
  std::vector<Journey> journeys(threads);
  std::vector<std::atomic<std::uint64_t>> taken(threads);
  std::atomic<std::uint64_t> sent{0};
  std::vector<std::jthread> pushing;
  for (unsigned k = 0; k < threads; ++k) {
    pushing.emplace_back([&, k] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        journeys[k].sequence = round;
        if (arrivals.push(journeys[k])) {
          sent.fetch_add(1);
          sent.notify_one();
        }
        taken[k].wait(round);  // Until it is round + 1.
      }
    });
  }
  std::uint64_t all = 0;
  for (std::uint64_t heard = 0; all < threads * rounds; ++heard) {
    for (std::uint64_t now = sent.load(); now == heard; now = sent.load()) sent.wait(now);
    for (Journey* journey = arrivals.take(); journey != nullptr;) {
      Journey* const next = journey->next;
      auto const k = static_cast<std::size_t>(journey - journeys.data());
      EXPECT_EQ(journey->sequence, taken[k].load());
      ++all;
      taken[k].fetch_add(1);
      taken[k].notify_one();
      journey = next;
    }
  }
  EXPECT_EQ(arrivals.take(), nullptr);
}

}  // namespace
}  // namespace penstock
