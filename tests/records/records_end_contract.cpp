// SPDX-License-Identifier: Apache-2.0
// Tests what becomes of records when something fails, is stopped, drained or destroyed.
#include <stdexcept>
#include <string>
#include <thread>

#include "engine/core/pool.hpp"
#include "records/records_contract.hpp"

namespace penstock {
namespace {

TEST_P(RecordsContract, FailsTheRecordsOfATileWhoseStageThrows) {
  pack({.linger = std::chrono::hours(1)});
  records().start(add_one_to_each([](DeviceRecords const& packed, StreamRef) {
                    if (packed.sequence == 1) throw std::runtime_error("not this one");
                  }),
                  note());
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 3; ++tag) {
    writer.append(content(tag), tag);
    await_told(tag + 1);
  }
  RecordReport const report = records().drain();
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.done, 2u);
  EXPECT_EQ(report.failed, 1u);
  auto const all = told();
  EXPECT_EQ(all.at(1).outcome, Outcome::failed);
  EXPECT_EQ(all.at(1).stage, "stage");
  EXPECT_TRUE(all.at(1).output.empty());
}

TEST_P(RecordsContract, TellsOfTheOthersThoughTheSinkThrowsForOne) {
  auto options = usual();
  options.consumers = 1;
  pack({.linger = std::chrono::hours(1), .hungry_below = 1}, options);
  HeldLanes held(kernels());
  unsigned told_of = 0;
  records().start(add_one_held_by(held), [&](RecordCompletion const& completion) {
    ++told_of;
    if (completion.tag % 2 == 0) throw std::runtime_error("an even one");
  });
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 10; ++tag) writer.append(content(tag), tag);
  held.release();
  RecordReport const report = records().drain();
  EXPECT_EQ(told_of, 10u);
  EXPECT_EQ(report.done, 10u);
  EXPECT_EQ(report.tiles.sink_failures, 2u) << "the first record travelled alone";
}

TEST_P(RecordsContract, CancelsWhatNoDeviceHasStartedWhenStopped) {
  pack({.linger = std::chrono::hours(1), .hungry_below = 2});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 2; ++tag) writer.append(content(tag), tag);
  held.await(2);
  for (std::uint64_t tag = 2; tag < 6; ++tag) writer.append(content(tag), tag);
  records().stop();
  held.release();
  RecordReport const report = records().drain();
  EXPECT_EQ(report.done, 2u);
  EXPECT_EQ(report.cancelled, 4u);
  EXPECT_TRUE(report.tiles.stopped);
  for (std::uint64_t tag = 2; tag < 6; ++tag) EXPECT_EQ(told().at(tag).outcome, Outcome::cancelled);
}

TEST_P(RecordsContract, WakesAWriterThatWaitsForATileWhenStopped) {
  auto options = usual();
  options.tuning.tiles = 2;
  pack({.record_bytes = tile_bytes, .hungry_below = 1}, options);
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  std::string said;
  std::jthread writes([&] {
    RecordWriter writer = records().writer();
    try {
      for (std::uint64_t tag = 0; tag < 100; ++tag) writer.append(content_of(tag, tile_bytes), tag);
    } catch (Error const& error) {
      said = error.what();
    }
  });
  held.await(2);  // A tile that had not begun would be cancelled, and become another record's.
  while (pipeline().pool().waiting() == 0) std::this_thread::yield();
  records().stop();
  writes.join();
  held.release();
  EXPECT_NE(said.find("stopped"), std::string::npos) << said;
  EXPECT_EQ(records().drain().records(), 2u);
}

TEST_P(RecordsContract, RefusesToWaitForATileIfOnlyTried) {
  auto options = usual();
  options.tuning.tiles = 1;
  pack({.record_bytes = tile_bytes}, options);
  EXPECT_FALSE(records().writer().try_append(content_of(0, tile_bytes))) << "not started";
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  EXPECT_TRUE(writer.try_append(content_of(0, tile_bytes), 0));
  EXPECT_FALSE(writer.try_append(content_of(1, tile_bytes), 1));
  EXPECT_THROW(writer.try_append(content_of(1, 1), 1), Error) << "it is of the wrong size, now and ever";
  held.release();
  EXPECT_EQ(records().drain().records(), 1u);
}

TEST_P(RecordsContract, TakesRecordsFromStartToDrainAndFromRunToRun) {
  pack();
  RecordWriter writer = records().writer();
  EXPECT_THROW(writer.append(content(0), 0), Error);
  EXPECT_THROW(static_cast<void>(records().drain()), Error);
  EXPECT_THROW(records().start({}, note()), Error);
  for (std::uint64_t run = 0; run < 3; ++run) {
    records().start(add_one_to_each(), note());
    EXPECT_THROW(records().start(add_one_to_each(), note()), Error);
    for (std::uint64_t i = 0; i < 10; ++i) writer.append(content(run * 10 + i), run * 10 + i);
    EXPECT_EQ(records().drain().done, 10u);
    EXPECT_THROW(writer.append(content(0), 0), Error);
  }
  expect_each_done_once(30);
}

TEST_P(RecordsContract, TakesNoRecordsBeforeItIsStartedThoughItsPipelineRuns) {
  pack();
  pipeline().start(add_one(), [](Completion&) {});
  EXPECT_FALSE(records().writer().try_append(content(0)));
  EXPECT_EQ(pipeline().drain().tiles(), 0u);
}

TEST_P(RecordsContract, SendsWhatAWriterAsksFor) {
  pack({.linger = std::chrono::hours(1), .hungry_below = 1});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);
  writer.append(content(1), 1);
  writer.flush();
  writer.flush();
  {
    RecordWriter other = records().writer();
    other.append(content(2), 2);
  }
  held.await(3);
  held.release();
  EXPECT_EQ(records().drain().left_for(Departure::asked), 2u);
  expect_each_done_once(3);
}

TEST_P(RecordsContract, WaitsForWritersAtWorkBeforeItIsDrained) {
  pack().start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  RecordRoom room = writer.claim(300);
  RecordReport report;
  std::jthread drains([&] { report = records().drain(); });
  RecordWriter other = records().writer();
  EXPECT_THROW(for (;;) other.append(content(0), 1000), Error);  // It throws once the drain has begun.
  auto const all = content(7);
  std::ranges::copy(all, room.bytes().begin());
  room.commit(all.size(), 7);
  drains.join();
  EXPECT_EQ(told().at(7).outcome, Outcome::done);
  EXPECT_EQ(report.records(), told_so_far());
}

TEST_P(RecordsContract, RefusesAWriterThatHasClaimedRoomAlready) {
  pack().start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  {
    RecordRoom room = writer.claim(1);
    EXPECT_THROW(writer.append(content(0), 0), Error);
    room.bytes()[0] = content_of(0, 1)[0];
    room.commit(1, 0);
  }
  static_cast<void>(records().drain());
  expect_each_done_once(1);
}

TEST_P(RecordsContract, RefusesToBeDrainedByItsOwnSink) {
  pack();
  std::string said;
  records().start(add_one_to_each(), [&](RecordCompletion const&) {
    try {
      static_cast<void>(records().drain());
    } catch (Error const& error) {
      said = error.what();
    }
  });
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);
  EXPECT_EQ(records().drain().done, 1u);
  EXPECT_NE(said.find("another thread"), std::string::npos) << said;
}

TEST_P(RecordsContract, CancelsWhatIsLeftIfThePipelineIsDrainedBehindItsBack) {
  pack({.linger = std::chrono::hours(1), .hungry_below = 1});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  {
    RecordWriter writer = records().writer();
    writer.append(content(0), 0);
    held.await(1);
    writer.append(content(1), 1);
    RecordRoom room = writer.claim(1);
    held.release();
    await_told(2);
    static_cast<void>(pipeline().drain());
    room.commit(1, 2);
  }
  EXPECT_EQ(told().at(0).outcome, Outcome::done);
  EXPECT_EQ(told().at(1).outcome, Outcome::done) << "a claim holds nothing back";
  EXPECT_EQ(told().at(2).outcome, Outcome::cancelled);
  EXPECT_THROW(static_cast<void>(records().drain()), Error);
  records().start(add_one_to_each(), note());
  EXPECT_EQ(records().drain().records(), 0u) << "it is fit for another run, and begins to count anew";
}

TEST_P(RecordsContract, CancelsWhatItsWritersHaveIfThePipelineIsDrainedBehindItsBack) {
  pack({.linger = std::chrono::hours(1), .least_bytes = tile_bytes}).start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);  // It waits for more.
  static_cast<void>(pipeline().drain());
  EXPECT_THROW(static_cast<void>(records().drain()), Error);
  ASSERT_EQ(told_so_far(), 1u);
  EXPECT_EQ(told().at(0).outcome, Outcome::cancelled);
  EXPECT_FALSE(writer.try_append(content(1), 1)) << "no more are taken";
}

TEST_P(RecordsContract, SendsRecordsToHungryLanesBesideATileThatSomebodyElseFed) {
  pack({.linger = std::chrono::hours(1), .hungry_below = 1}).start(add_one_to_each(), note());
  Loan foreign = pipeline().feed().borrow();
  foreign->filled = 1;
  foreign->tag = foreign->index();
  pipeline().feed().submit(std::move(foreign));
  while (pipeline().snapshot().under_way() > 0) std::this_thread::yield();
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 3; ++tag) {
    writer.append(content(tag), tag);
    await_told(tag + 1);  // Without a flush.
  }
  RecordReport const report = records().drain();
  EXPECT_EQ(report.left_for(Departure::hungry), 3u);
  EXPECT_EQ(report.tiles.tiles_failed, 1u) << "the tile without records";
  expect_each_done_once(3);
}

TEST_P(RecordsContract, DrainsItselfWhenItDies) {
  pack().start(add_one_to_each(), note());
  {
    RecordWriter writer = records().writer();
    for (std::uint64_t tag = 0; tag < 50; ++tag) writer.append(content(tag), tag);
  }
  destroy_records();
  EXPECT_EQ(told_so_far(), 50u);
}

TEST_P(RecordsContract, RefusesAPipelineWithHostStages) {
  auto options = usual();
  options.host_stages.push_back({.name = "parse", .body = [](Tile&) {}});
  EXPECT_THROW(pack({}, options), Error);
}

}  // namespace
}  // namespace penstock
