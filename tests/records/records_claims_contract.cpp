// SPDX-License-Identifier: Apache-2.0
// Promises of records to code that fills them in place.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "engine/core/pool.hpp"
#include "records/records_contract.hpp"

namespace penstock {
namespace {

TEST_P(RecordsContract, LetsRecordsBeFilledInPlace) {
  pack().start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 100; ++tag) {
    RecordRoom room = writer.claim(1000);
    ASSERT_EQ(room.bytes().size(), 1000u);
    auto const all = content(tag);
    std::ranges::copy(all, room.bytes().begin());
    if (tag % 10 == 9) {
      { RecordRoom const given_back = std::move(room); }
      writer.append(all, tag);
    } else {
      room.commit(all.size(), tag);
    }
  }
  static_cast<void>(records().drain());
  expect_each_done_once(100);
}

TEST_P(RecordsContract, SendsWhatIsLateWhileItsWriterFillsRoomBehindIt) {
  for (std::size_t const each : {std::size_t{0}, std::size_t{64}}) {
    forget_told();
    pack({.record_bytes = each, .linger = std::chrono::milliseconds(1), .hungry_below = 1});
    HeldLanes held(kernels());
    records().start(add_one_held_by(held), note());
    RecordWriter writer = records().writer();
    writer.append(content_of(0, 64), 0);
    held.await(1);
    writer.append(content_of(1, 64), 1);
    RecordRoom room = writer.claim(64);
    std::ranges::copy(content_of(2, 64), room.bytes().begin());
    held.await(2);  // No other than the clock sends it, and the room is still open.
    held.release();
    await_told(2);
    room.commit(64, 2);
    static_cast<void>(records().drain());
    auto const all = told();
    ASSERT_EQ(all.size(), 3u);
    for (auto const& [tag, one] : all) {
      EXPECT_EQ(one.times, 1u);
      auto expected = content_of(tag, 64);
      for (std::byte& byte : expected) byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + 1);
      EXPECT_EQ(one.output, expected) << tag;
    }
  }
}

TEST_P(RecordsContract, SendsToHungryLanesWhileItsWriterFillsRoomBehindIt) {
  pack({.linger = std::chrono::hours(24), .hungry_below = 1});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);
  held.await(1);
  writer.append(content(1), 1);
  RecordRoom room = writer.claim(300);
  held.release();
  await_told(2);  // The first is back, so the second leaves, though the room is still open.
  std::ranges::copy(content(2), room.bytes().begin());
  room.commit(content(2).size(), 2);
  static_cast<void>(records().drain());
  expect_each_done_once(3);
}

TEST_P(RecordsContract, SendsByTheTileThatComesBackWhatFoundNoOther) {
  PipelineOptions options = usual();
  options.tuning.tiles = 2;
  pack({.linger = std::chrono::hours(24), .hungry_below = 1}, options);
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);
  held.await(1);
  writer.append(content(1), 1);
  RecordRoom room = writer.claim(300);
  EXPECT_EQ(pipeline().pool().on_loan(), 2u);
  held.release();
  await_told(2);
  std::ranges::copy(content(2), room.bytes().begin());
  room.commit(content(2).size(), 2);
  static_cast<void>(records().drain());
  expect_each_done_once(3);
}

/// The clock's thread looks for a tile as well, and while it does, the tile can pass it: then it is tried again.
///
/// Seen to fail if a tile that comes back goes home at once.
TEST_P(RecordsContract, SendsByTheTileThatComesBackWhatWaitedBeforeAnotherWriter) {
  PipelineOptions options = usual();
  options.tuning.tiles = 2;
  options.lanes = 1;                                          // It keeps the order in which they leave.
  options.tuning.borrow_spin = std::chrono::microseconds(0);  // The other writer is in the pool's queue.
  std::vector<std::uint64_t> told_in_order;
  for (int turn = 0; turn < 50 && told_in_order != std::vector<std::uint64_t>{0, 1, 2}; ++turn) {
    std::mutex mutex;
    told_in_order.clear();
    pack({.linger = std::chrono::hours(24), .hungry_below = 1}, options);
    HeldLanes held(kernels());
    records().start(add_one_held_by(held), [&](RecordCompletion const& completion) {
      std::scoped_lock const lock(mutex);
      told_in_order.push_back(completion.tag);
    });
    RecordWriter writer = records().writer();
    writer.append(content(0), 0);
    held.await(1);
    writer.append(content(1), 1);
    {
      RecordRoom const room = writer.claim(300);
      std::jthread const other([&] { records().writer().append(content(2), 2); });
      while (pipeline().pool().waiting() == 0) std::this_thread::yield();
      held.release();
    }
    EXPECT_EQ(records().drain().done, 3u);
  }
  EXPECT_EQ(told_in_order, (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST_P(RecordsContract, TellsOfEachRecordOnceThoughTheClockTakesThemFromOpenRooms) {
  constexpr std::uint64_t writers = 4, each = 1000;
  pack({.linger = std::chrono::microseconds(0), .hungry_below = 1}).start(add_one_to_each(), note());
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t number = 0; number < writers; ++number) {
      threads.emplace_back([&, number] {
        RecordWriter writer = records().writer();
        for (std::uint64_t i = 0; i < each; ++i) {
          std::uint64_t const tag = number * each + i;
          RecordRoom room = writer.claim(300);
          auto const all = content(tag);
          std::ranges::copy(all, room.bytes().begin());
          if (tag % 7 == 3) std::this_thread::yield();
          room.commit(all.size(), tag);
        }
      });
    }
  }
  static_cast<void>(records().drain());
  expect_each_done_once(writers * each);
}

TEST_P(RecordsContract, GivesRoomBackThatCannotBeCommitted) {
  pack({.hungry_below = 1}).start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  {
    RecordRoom room = writer.claim(10);
    EXPECT_THROW(room.commit(11), Error);
    EXPECT_THROW(room.commit(1), Error) << "it was given back";
  }
  EXPECT_EQ(pipeline().pool().on_loan(), 0u);
  EXPECT_THROW(writer.append(std::vector<std::byte>(records().most_bytes() + 1)), Error);
  EXPECT_THROW(writer.claim(tile_bytes), Error) << "there must be room for the table";
  writer.append(content(0), 0);
  EXPECT_EQ(records().drain().records(), 1u);
}

}  // namespace
}  // namespace penstock
