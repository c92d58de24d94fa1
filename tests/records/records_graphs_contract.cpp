// SPDX-License-Identifier: Apache-2.0
// Promises of records whose stage may be captured.
#include <latch>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "records/records_contract.hpp"

namespace penstock {
namespace {

constexpr Promises captured{.reads_once = true, .capturable = true};

std::uint64_t graphs_of(RecordReport const& report) {
  std::uint64_t graphs = 0;
  for (LaneSummary const& lane : report.tiles.lanes) {
    graphs += lane.graphs;
    EXPECT_EQ(lane.not_captured, nullptr) << lane.not_captured->reason;
  }
  return graphs;
}

std::vector<std::byte> bytes_of_sum(std::vector<std::byte> const& bytes) {
  std::uint64_t sum = 0;
  for (std::byte const byte : bytes) sum += std::to_integer<std::uint64_t>(byte);
  auto const* const first = reinterpret_cast<std::byte const*>(&sum);
  return {first, first + sizeof sum};
}

std::vector<std::byte> one_more_than(std::vector<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + 1);
  return bytes;
}

/// Records of one size and of any; in place, and with sums beside them.
TEST_P(RecordsContract, GiveTheSameWithGraphsAndWithout) {
  for (auto const& [bytes, sums] : {std::pair<std::size_t, bool>{0, false}, {100, false}, {0, true}, {100, true}}) {
    std::map<std::uint64_t, Told> of_runs;
    for (Graphs const graphs : {Graphs::never, Graphs::automatic, Graphs::always}) {
      SCOPED_TRACE(std::to_string(bytes) + (sums ? " sums " : " ") + std::string(to_string(graphs)));
      auto options = usual();
      options.tuning.transport = Transport::copies;
      options.tuning.graphs = graphs;
      if (sums) options.tile = {.input_bytes = 4096, .output_bytes = 512};
      RecordOptions packed{.record_bytes = bytes};
      if (sums) packed.output_bytes = 8;
      forget_told();
      pack(packed, options).start(sums ? sum_of_each({}, captured) : add_one_to_each({}, captured), note());
      std::vector<std::jthread> threads;
      for (std::uint64_t number = 0; number < 4; ++number) {
        threads.emplace_back([this, number, bytes = bytes] {
          RecordWriter writer = records().writer();
          for (std::uint64_t tag = number; tag < 1000; tag += 4) {
            writer.append(bytes > 0 ? content_of(tag, bytes) : content(tag), tag);
          }
        });
      }
      threads.clear();
      RecordReport const report = records().drain();
      EXPECT_TRUE(report.ok()) << describe(report);
      bool const launched = graphs_of(report) > 0;
      EXPECT_TRUE(launched == (graphs == Graphs::always) || graphs == Graphs::automatic);
      if (graphs == Graphs::never) of_runs = told();
      auto const all = told();
      ASSERT_EQ(all.size(), 1000u);
      for (auto const& [tag, one] : all) {
        auto const sent = bytes > 0 ? content_of(tag, bytes) : content(tag);
        EXPECT_EQ(one.output, sums ? bytes_of_sum(sent) : one_more_than(sent)) << tag;
        EXPECT_EQ(one.output, of_runs.at(tag).output) << tag;
      }
    }
  }
}

/// All tiles have 40 bytes with their tables: of one record of 30 bytes, of one of 32, or of two of 8. Seen to fail if
/// graphs are kept by the tile's bytes alone, and if by these and the number of records.
TEST_P(RecordsContract, LaunchNoGraphOfRecordsThatAreOthersThoughAsLarge) {
  std::vector<std::size_t> const sizes{30, 32, 30, 8, 8, 30, 32, 32};
  for (bool const sums : {false, true}) {
    SCOPED_TRACE(sums);
    auto options = usual();
    options.tile = {.input_bytes = 40, .output_bytes = 40, .in_place = !sums};
    options.lanes = options.tuning.slots = options.tuning.batch = 1;
    options.tuning.transport = Transport::copies;
    options.tuning.graphs = Graphs::always;
    RecordOptions packed{.linger = std::chrono::hours(1), .hungry_below = 1};
    if (sums) packed.output_bytes = 8;
    forget_told();
    pack(packed, options);
    // The first tile stays with its stage until all are written, so that the others leave when they are full.
    std::latch written(1);
    auto const wait = [&written](DeviceRecords const&, StreamRef) { written.wait(); };
    records().start(sums ? sum_of_each(wait, captured) : add_one_to_each(wait, captured), note());
    {
      RecordWriter writer = records().writer();
      for (std::uint64_t tag = 0; tag < sizes.size(); ++tag) writer.append(content_of(tag, sizes[tag]), tag);
    }
    written.count_down();
    RecordReport const report = records().drain();
    EXPECT_TRUE(report.ok()) << describe(report);
    EXPECT_EQ(report.tiles.tiles(), 7u) << describe(report);
    EXPECT_EQ(graphs_of(report), 3u) << "those of 30 bytes";
    auto const all = told();
    ASSERT_EQ(all.size(), sizes.size());
    for (auto const& [tag, one] : all) {
      auto const sent = content_of(tag, sizes[tag]);
      EXPECT_EQ(one.output, sums ? bytes_of_sum(sent) : one_more_than(sent)) << tag;
    }
  }
}

TEST_P(RecordsContract, CaptureNoStageThatDoesNotPromise) {
  auto options = usual();
  options.tuning.transport = Transport::copies;
  options.tuning.graphs = Graphs::always;
  pack({}, options).start(add_one_to_each(), note());
  {
    RecordWriter writer = records().writer();
    for (std::uint64_t tag = 0; tag < 100; ++tag) writer.append(content(tag), tag);
  }
  EXPECT_EQ(graphs_of(records().drain()), 0u);
  expect_each_done_once(100);
}

}  // namespace
}  // namespace penstock
