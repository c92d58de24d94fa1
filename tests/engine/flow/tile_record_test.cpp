// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/tile_record.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Arrivals, ComeInTheirOrderAndTheFirstIsToldToSend) {
  Arrivals arrivals;
  std::vector<TileRecord> records(3);
  EXPECT_EQ(arrivals.take(), nullptr);
  EXPECT_TRUE(arrivals.push(records[2]));
  EXPECT_FALSE(arrivals.push(records[0]));
  EXPECT_FALSE(arrivals.push(records[1]));
  TileRecord* const first = arrivals.take();
  ASSERT_EQ(first, &records[2]);
  ASSERT_EQ(first->next, &records[0]);
  ASSERT_EQ(first->next->next, &records[1]);
  EXPECT_EQ(records[1].next, nullptr);
  EXPECT_EQ(arrivals.take(), nullptr);
  EXPECT_TRUE(arrivals.push(records[0]));
}

/// Every record is pushed again as soon as it was taken, by one of several threads; a thread that is told to send does.
TEST(Arrivals, AreAllTakenOnceWhoeverPushes) {
  constexpr unsigned threads = 4;
  constexpr std::uint64_t rounds = 5000;
  Arrivals arrivals;
  std::vector<TileRecord> records(threads);
  std::vector<std::atomic<std::uint64_t>> taken(threads);
  std::atomic<std::uint64_t> sent{0};
  std::vector<std::jthread> pushing;
  for (unsigned k = 0; k < threads; ++k) {
    pushing.emplace_back([&, k] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        records[k].sequence = round;
        if (arrivals.push(records[k])) {
          sent.fetch_add(1);
          sent.notify_one();
        }
        taken[k].wait(round);  // Waits until it is round + 1.
      }
    });
  }
  std::uint64_t all = 0;
  for (std::uint64_t heard = 0; all < threads * rounds; ++heard) {
    for (std::uint64_t now = sent.load(); now == heard; now = sent.load()) sent.wait(now);
    for (TileRecord* record = arrivals.take(); record != nullptr;) {
      TileRecord* const next = record->next;
      auto const k = static_cast<std::size_t>(record - records.data());
      EXPECT_EQ(record->sequence, taken[k].load());
      ++all;
      taken[k].fetch_add(1);
      taken[k].notify_one();
      record = next;
    }
  }
  EXPECT_EQ(arrivals.take(), nullptr);
}

}  // namespace
}  // namespace penstock
