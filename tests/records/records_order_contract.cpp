// SPDX-License-Identifier: Apache-2.0
// Tests in which order the records of a writer reach the sink.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "records/records_contract.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t writers = 3, each = 2000;

/// Writers that write at once; the tags of each count up.
void write(Records& records) {
  std::vector<std::jthread> threads;
  for (std::uint64_t number = 0; number < writers; ++number) {
    threads.emplace_back([&records, number] {
      RecordWriter writer = records.writer();
      std::vector<std::byte> const bytes(100);
      for (std::uint64_t i = 0; i < each; ++i) writer.append(bytes, number * each + i);
    });
  }
}

/// Seen to fail if a tile's entries are told from behind.
TEST_P(RecordsContract, TellsTheRecordsOfATileInTheOrderInWhichTheyWereWritten) {
  pack();
  std::mutex mutex;
  std::uint64_t told = 0;
  bool in_order = true;
  records().start_by_tiles(add_one_to_each(), [&](RecordCompletions const& completions) {
    std::vector<std::uint64_t> tags;
    for (std::uint32_t i = 0; i < completions.size(); ++i) tags.push_back(completions.tag(i));
    std::scoped_lock const lock(mutex);
    told += tags.size();
    in_order = in_order && std::ranges::is_sorted(tags) && tags.front() / each == tags.back() / each;
  });
  write(records());
  EXPECT_TRUE(records().drain().ok());
  EXPECT_EQ(told, writers * each);
  EXPECT_TRUE(in_order);
}

/// Then no other thread sends a writer's tiles.
TEST_P(RecordsContract, TellsAllRecordsOfAWriterInOrderIfItsTilesLeaveFull) {
  PipelineOptions ordered = usual();
  ordered.ordered = true;
  pack({.linger = std::chrono::hours(24), .least_bytes = 2 * tile_bytes}, ordered);
  std::map<std::uint64_t, std::vector<std::uint64_t>> tags;
  records().start(add_one_to_each(),
                  [&](RecordCompletion const& completion) { tags[completion.tag / each].push_back(completion.tag); });
  write(records());
  EXPECT_TRUE(records().drain().ok());
  ASSERT_EQ(tags.size(), writers);
  for (auto const& [writer, all] : tags) {
    EXPECT_EQ(all.size(), each);
    EXPECT_TRUE(std::ranges::is_sorted(all)) << writer;
  }
}

}  // namespace
}  // namespace penstock
