// SPDX-License-Identifier: Apache-2.0
// Promises of records to code that writes, and is told of, many at once.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "engine/core/pool.hpp"
#include "records/records_contract.hpp"

namespace penstock {
namespace {

/// The contents of records from `first` to before `end`, and where each lies.
struct Contents {
  std::vector<std::vector<std::byte>> kept;
  std::vector<std::span<std::byte const>> spans;
};
template <class ContentOf>
Contents contents(ContentOf const& content_of, std::uint64_t first, std::uint64_t end) {
  Contents all;
  for (std::uint64_t tag = first; tag < end; ++tag) all.kept.push_back(content_of(tag));
  for (auto const& one : all.kept) all.spans.emplace_back(one);
  return all;
}

TEST_P(RecordsContract, TakesManyAtOnceOverAsManyTilesAsTheyFill) {
  pack().start(add_one_to_each(), note());
  {
    RecordWriter writer = records().writer();
    auto const all = contents(content, 0, 5000);
    EXPECT_EQ(writer.append_many(all.spans), 5000u);
    EXPECT_EQ(writer.append_many({}), 0u);
    auto const more = contents(content, 5000, 5003);
    EXPECT_EQ(writer.append_many(more.spans, 5000), 3u);
  }
  EXPECT_GT(records().drain().tiles.tiles(), 8u);
  expect_each_done_once(5003);
}

TEST_P(RecordsContract, WritesNoneOfManyIfOneIsTooLarge) {
  pack().start(add_one_to_each(), note());
  auto all = contents(content, 0, 3);
  std::vector<std::byte> const large(records().most_bytes() + 1);
  all.spans.emplace_back(large);
  EXPECT_THROW(records().writer().append_many(all.spans), Error);
  EXPECT_EQ(records().drain().records(), 0u);
}

TEST_P(RecordsContract, SaysHowManyOfManyFoundRoom) {
  pack({.hungry_below = 1});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);
  held.await(1);
  auto const all = contents(content, 1, 5000);
  std::size_t const written = writer.try_append_many(all.spans, 1);
  EXPECT_GT(written, 7u) << "all eight tiles but one";
  EXPECT_LT(written, 4999u);
  held.release();
  EXPECT_EQ(writer.append_many(std::span(all.spans).subspan(written), 1 + written), 4999 - written);
  static_cast<void>(records().drain());
  expect_each_done_once(5000);
}

/// A network's messages: received at a stride into one room, each of its own size.
TEST_P(RecordsContract, TakesManyFromOneRoom) {
  constexpr std::size_t stride = 304, at_once = 5;
  pack().start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 100 * at_once; tag += at_once) {
    RecordRoom room = writer.claim(stride * at_once, at_once);
    std::vector<RecordPlace> places;
    for (std::uint32_t i = 0; i < at_once; ++i) {
      auto const one = content(tag + i);
      std::ranges::copy(one, room.bytes().subspan(i * stride).begin());
      places.push_back({i * static_cast<std::uint32_t>(stride), static_cast<std::uint32_t>(one.size())});
    }
    room.commit(places, tag);
  }
  static_cast<void>(records().drain());
  expect_each_done_once(100 * at_once);
}

TEST_P(RecordsContract, LetsRecordsLeaveBesideRoomForMany) {
  pack({.linger = std::chrono::hours(24), .hungry_below = 1});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);
  held.await(1);
  writer.append(content(1), 1);
  RecordRoom room = writer.claim(640, 2);
  held.release();
  await_told(2);  // The first is back, so the second leaves, though the room behind it is open.
  std::ranges::copy(content(2), room.bytes().begin());
  std::ranges::copy(content(3), room.bytes().subspan(320).begin());
  auto const size = [](std::uint64_t tag) { return static_cast<std::uint32_t>(content(tag).size()); };
  room.commit(std::vector<RecordPlace>{{0, size(2)}, {320, size(3)}}, 2);
  static_cast<void>(records().drain());
  expect_each_done_once(4);
}

TEST_P(RecordsContract, GivesRoomForManyBackThatCannotBeCommitted) {
  pack({.hungry_below = 1}).start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  EXPECT_THROW(writer.claim(10, 0), Error);
  EXPECT_THROW(writer.claim(tile_bytes - 8, 3), Error) << "there must be room for their table";
  std::vector<RecordPlace> const two{{0, 5}, {16, 5}};
  {
    RecordRoom room = writer.claim(100, 1);
    EXPECT_THROW(room.commit(two), Error) << "more than were claimed";
    EXPECT_THROW(room.commit(two), Error) << "it was given back";
  }
  EXPECT_THROW(writer.claim(20, 2).commit(two), Error) << "beyond the room";
  EXPECT_THROW(writer.claim(100, 2).commit(std::vector<RecordPlace>{{1, 5}}), Error) << "between multiples of 16";
  writer.claim(100, 2).commit(std::span<RecordPlace const>());
  EXPECT_EQ(pipeline().pool().on_loan(), 0u);
  EXPECT_EQ(records().drain().records(), 0u);
}

TEST_P(RecordsContract, TellsOfATileAtOnce) {
  RecordSink const note_one = note();
  std::vector<std::uint32_t> sizes;
  pack().start_by_tiles(add_one_to_each(), [&](RecordCompletions const& all) {
    sizes.push_back(all.size());
    EXPECT_TRUE(all.ok());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (!all.has_listener(i)) note_one({.tag = all.tag(i), .outcome = all.outcome(), .output = all.output(i)});
    }
  });
  auto const all = contents(content, 0, 3000);
  RecordReply reply(records());
  RecordWriter writer = records().writer();
  writer.append(content(0), reply);
  writer.append_many(all.spans);
  EXPECT_EQ(reply.wait(), Outcome::done);
  std::uint64_t const tiles = records().drain().tiles.tiles();
  EXPECT_EQ(sizes.size(), tiles);
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0u), 3001u);
  expect_each_done_once(3000);
}

TEST_P(RecordsContract, TellsOfATileThatFailedAtOnce) {
  std::uint64_t failed = 0;
  pack().start_by_tiles(on_device([](DeviceRecords const&, StreamRef) { throw std::runtime_error("no"); }),
                        [&](RecordCompletions const& all) {
                          ASSERT_EQ(all.outcome(), Outcome::failed);
                          EXPECT_EQ(all.failure()->stage, "stage");
                          EXPECT_TRUE(all.output(0).empty() && all.outputs().empty());
                          failed += all.size();
                        });
  auto const all = contents(content, 0, 500);
  records().writer().append_many(all.spans);
  EXPECT_EQ(records().drain().failed, 500u);
  EXPECT_EQ(failed, 500u);
}

/// Lanes are hungry all the time, and no time makes it leave.
TEST_P(RecordsContract, KeepsATileThatHasLessThanIsEnough) {
  pack({.linger = std::chrono::hours(24), .hungry_below = 8, .least_bytes = 1000}).start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  auto const append = [&](std::uint64_t tag) { writer.append(content_of(tag, 300), tag); };
  for (std::uint64_t tag = 0; tag < 3; ++tag) append(tag);
  EXPECT_EQ(pipeline().pool().on_loan(), 1u) << "it is with its writer";
  append(3);  // 300 bytes from 912 on.
  await_told(4);
  append(4);
  writer.flush();
  await_told(5);
  RecordReport const report = records().drain();
  EXPECT_EQ(report.left_for(Departure::hungry), 1u);
  EXPECT_EQ(report.left_for(Departure::asked), 1u);
  EXPECT_EQ(report.done, 5u);
}

TEST_P(RecordsContract, LetsWhatIsLessThanEnoughLeaveOnceItIsLate) {
  pack({.linger = std::chrono::milliseconds(1), .hungry_below = 8, .least_bytes = tile_bytes})
      .start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);
  await_told(1);
  EXPECT_EQ(records().drain().left_for(Departure::late), 1u);
  expect_each_done_once(1);
}

}  // namespace
}  // namespace penstock
