// SPDX-License-Identifier: Apache-2.0
// Promises of records to code that writes them.
#include "records/records_contract.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <thread>

namespace penstock {
namespace {

std::uint64_t as_number(std::span<std::byte const> bytes) {
  std::uint64_t number = 0;
  EXPECT_EQ(bytes.size(), sizeof number);
  std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
  return number;
}

std::uint64_t sum_of(std::vector<std::byte> const& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, std::byte byte) { return sum + std::to_integer<std::uint64_t>(byte); });
}

/// Four threads write 500 records each, whatever the pipeline's options.
void write_from_many_threads(Records& records, std::vector<std::byte> (*content)(std::uint64_t tag)) {
  constexpr std::uint64_t writers = 4, each = 500;
  std::vector<std::jthread> threads;
  for (std::uint64_t number = 0; number < writers; ++number) {
    threads.emplace_back([&records, content, number] {
      RecordWriter writer = records.writer();
      for (std::uint64_t tag = number * each; tag < (number + 1) * each; ++tag) writer.append(content(tag), tag);
    });
  }
}

TEST_P(RecordsContract, TellsOfEachRecordOfManyWritersOnceWithWhatCameOfIt) {
  auto ordered = usual(), parallel = usual(), on_lanes = usual();
  ordered.ordered = true;
  parallel.parallel_sink = true;
  on_lanes.tuning.sink_on_lanes = true;
  for (auto const& options : {usual(), ordered, parallel, on_lanes}) {
    forget_told();
    pack({}, options).start(add_one_to_each(), note());
    write_from_many_threads(records(), &content);
    RecordReport const report = records().drain();
    expect_each_done_once(2000);
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_EQ(report.done, 2000u);
    EXPECT_EQ(report.bytes_in, report.bytes_out);
    EXPECT_EQ(std::accumulate(report.left.begin(), report.left.end(), std::uint64_t{0}), report.tiles.tiles());
  }
}

/// Tiles are with a table and without; results are in place of the records, and beside them.
TEST_P(RecordsContract, TellTheSameByEachTransport) {
  for (Transport const transport : all_transports) {
    SCOPED_TRACE(to_string(transport));
    auto options = usual();
    options.tuning.transport = transport;
    forget_told();
    pack({}, options).start(add_one_to_each(), note());
    write_from_many_threads(records(), &content);
    RecordReport const report = records().drain();
    expect_each_done_once(2000);
    if (transport != Transport::mapped) continue;
    std::uint64_t mapped = 0;
    for (LaneSummary const& lane : report.tiles.lanes) mapped += lane.mapped;
    EXPECT_EQ(mapped, report.tiles.tiles()) << "the promise of the user's stage did not reach the lane";

    options.tile = {.input_bytes = 4096, .output_bytes = 512};
    pack({.output_bytes = 8}, options);
    std::vector<std::uint64_t> sums(300);
    records().start(sum_of_each(), [&](RecordCompletion const& one) { sums.at(one.tag) = as_number(one.output); });
    RecordWriter writer = records().writer();
    for (std::uint64_t tag = 0; tag < sums.size(); ++tag) writer.append(content(tag), tag);
    EXPECT_TRUE(records().drain().ok());
    for (std::uint64_t tag = 0; tag < sums.size(); ++tag) EXPECT_EQ(sums[tag], sum_of(content(tag))) << tag;
  }
}

TEST_P(RecordsContract, PacksThoughThePoolHasFewTiles) {
  auto options = usual();
  options.tuning.tiles = 3;
  pack({.linger = std::chrono::hours(1)}, options);
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 11; ++tag) writer.append(content(tag), tag);
  held.release();
  EXPECT_EQ(records().drain().tiles.tiles(), 2u);
}

TEST_P(RecordsContract, GivesEachRecordAResultOfAnotherSize) {
  auto options = usual();
  options.tile = {.input_bytes = 4096, .output_bytes = 512};
  for (std::size_t const bytes : {0U, 100U}) {
    SCOPED_TRACE(bytes);
    pack({.record_bytes = bytes, .output_bytes = 8}, options);
    std::vector<std::uint64_t> sums(300);
    records().start(sum_of_each(), [&](RecordCompletion const& one) { sums.at(one.tag) = as_number(one.output); });
    RecordWriter writer = records().writer();
    for (std::uint64_t tag = 0; tag < sums.size(); ++tag) {
      writer.append(bytes > 0 ? content_of(tag, bytes) : content(tag), tag);
    }
    RecordReport const report = records().drain();
    EXPECT_EQ(report.bytes_out, 8 * sums.size());
    for (std::uint64_t tag = 0; tag < sums.size(); ++tag) {
      EXPECT_EQ(sums[tag], sum_of(bytes > 0 ? content_of(tag, bytes) : content(tag))) << tag;
    }
  }
}

TEST_P(RecordsContract, SendsARecordAtOnceWhileThereIsLittleToDo) {
  pack({.linger = std::chrono::hours(1)}).start(add_one_to_each(), note());
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 20; ++tag) {
    writer.append(content(tag), tag);
    await_told(tag + 1);
  }
  RecordReport const report = records().drain();
  EXPECT_EQ(report.left_for(Departure::hungry), 20u);
  expect_each_done_once(20);
}

TEST_P(RecordsContract, PacksWhatIsWrittenWhileTheLanesAreBusy) {
  pack({.linger = std::chrono::hours(1), .hungry_below = 2});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  for (std::uint64_t tag = 0; tag < 2; ++tag) writer.append(content(tag), tag);
  held.await(2);
  for (std::uint64_t tag = 2; tag < 12; ++tag) writer.append(content(tag), tag);
  EXPECT_EQ(told_so_far(), 0u);
  held.release();
  await_told(12);  // No lane asked for those on the desk.
  RecordReport const report = records().drain();
  EXPECT_EQ(report.tiles.tiles(), 3u) << describe(report);
  expect_each_done_once(12);
}

TEST_P(RecordsContract, SendsWhatHasWaitedLongEnoughThoughNothingComesBack) {
  pack({.linger = std::chrono::milliseconds(1), .hungry_below = 1});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), note());
  RecordWriter writer = records().writer();
  writer.append(content(0), 0);
  held.await(1);
  writer.append(content(1), 1);
  held.await(2);
  held.release();
  RecordReport const report = records().drain();
  // The clock alone could send the second; the first, too, if its writer was held up.
  EXPECT_GE(report.left_for(Departure::late), 1u) << describe(report);
  EXPECT_EQ(report.left_for(Departure::late) + report.left_for(Departure::hungry), 2u) << describe(report);
  expect_each_done_once(2);
}

TEST_P(RecordsContract, ServesMoreWritersThanThereAreTiles) {
  constexpr std::uint64_t writers = 24, each = 40;
  pack({.linger = std::chrono::hours(1)}).start(add_one_to_each(), note());
  std::vector<std::jthread> threads;
  for (std::uint64_t number = 0; number < writers; ++number) {
    threads.emplace_back([&, number] {
      RecordWriter writer = records().writer();
      for (std::uint64_t i = 0; i < each; ++i) writer.append(content(number * each + i), number * each + i);
      // No thread goes before all have been served: what each wrote last leaves without its writer's help.
      await_told(writers * each);
    });
  }
  threads.clear();
  static_cast<void>(records().drain());
  expect_each_done_once(writers * each);
}

TEST_P(RecordsContract, TellsAListenerInsteadOfTheSink) {
  struct Listener : RecordListener {
    std::uint64_t tag = 0;
    std::size_t bytes = 0;
    unsigned times = 0;
    void complete(RecordCompletion const& completion) override {
      tag = completion.tag;
      bytes = completion.output.size();
      ++times;
    }
  };
  pack().start(add_one_to_each(), note());
  std::array<Listener, 3> listeners;
  RecordWriter writer = records().writer();
  for (std::uint64_t i = 0; i < listeners.size(); ++i) writer.append(content(i), listeners.at(i), 10 + i);
  static_cast<void>(records().drain());
  for (std::uint64_t i = 0; i < listeners.size(); ++i) {
    EXPECT_EQ(listeners.at(i).times, 1u);
    EXPECT_EQ(listeners.at(i).tag, 10 + i);
    EXPECT_EQ(listeners.at(i).bytes, content(i).size());
  }
  EXPECT_EQ(told_so_far(), 0u);
}

TEST_P(RecordsContract, RepliesWithAValueToWaitFor) {
  pack().start(add_one_to_each(), {});
  RecordWriter writer = records().writer();
  RecordReply reply(records());
  EXPECT_THROW(reply.wait(), Error);
  for (std::uint64_t tag = 0; tag < 20; ++tag) {
    auto const sent = content(tag);
    writer.append(sent, reply);
    EXPECT_EQ(reply.wait(std::chrono::microseconds(tag % 2 * 10)), Outcome::done);
    ASSERT_EQ(reply.output().size(), sent.size());
    EXPECT_EQ(std::to_integer<unsigned>(reply.output()[0]), (std::to_integer<unsigned>(sent[0]) + 1) % 256);
  }
  static_cast<void>(records().drain());
}

TEST_P(RecordsContract, RefusesAReplyThatIsAwaitedAlready) {
  pack({.hungry_below = 1});
  HeldLanes held(kernels());
  records().start(add_one_held_by(held), {});
  RecordWriter writer = records().writer();
  {
    RecordReply reply(records());
    writer.append(content(0), reply);
    EXPECT_FALSE(reply.ready());
    EXPECT_THROW(writer.append(content(1), reply), Error);
    held.release();  // The reply waits for its answer before it dies.
  }
  EXPECT_EQ(records().drain().records(), 1u) << "the refused one never was";
}

TEST_P(RecordsContract, MergesTheStagesOfAllLanes) {
  struct Counting : RecordStage {
    explicit Counting(StageContext const&) {}
    void run(DeviceRecords const& packed, StreamRef) override { count += packed.inputs.size(); }
    std::uint64_t count = 0;
  };
  std::uint64_t count = 0;
  pack().start(record_stage_per_lane<Counting>([&](Counting& stage) { count += stage.count; }), {});
  {
    RecordWriter writer = records().writer();
    for (std::uint64_t tag = 0; tag < 333; ++tag) writer.append(content(tag), tag);
  }
  static_cast<void>(records().drain());
  EXPECT_EQ(count, 333u);
}

}  // namespace
}  // namespace penstock
