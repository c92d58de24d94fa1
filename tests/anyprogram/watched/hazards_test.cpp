// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/hazards.hpp"

#include <array>
#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "anyprogram/watched/log_builder.hpp"

namespace penstock::cli {
namespace {

constexpr std::uint64_t legacy = LogBuilder::legacy;
constexpr std::uint64_t one = 0x111, other = 0x222, third = 0x333, event = 0xe1, later = 0xe2, graph = 0x99;
constexpr std::uint64_t device = 0x7000'0000, host = 0x1000'0000, back = 0x2000'0000, size = 4096;
constexpr std::uint8_t to_host = 2, on_device = 8;

/// A program of two calls on the same bytes, with or without what keeps them in order.
struct Planted {
  std::string name;
  std::function<void(LogBuilder&, bool in_order)> write;
};

LogBuilder& upload(LogBuilder& to, std::uint64_t stream) {
  return to.copy(stream, device, host, size);
}
LogBuilder& download(LogBuilder& to, std::uint64_t stream) {
  return to.copy(stream, back, device, size);
}
/// An upload in the default stream, what may follow it, and a download in a stream that waits for the default stream.
Planted between(std::string name, std::function<void(LogBuilder&)> order) {
  return {std::move(name), [order = std::move(order)](LogBuilder& to, bool in_order) {
            upload(to, legacy);
            if (in_order) order(to);
            download(to, one);
          }};
}

Planted const planted[] = {
    {"Stream", [](LogBuilder& to, bool in_order) { download(upload(to, in_order ? one : legacy), one); }},
    between("Event", [](LogBuilder& to) { to.record(legacy, event).wait(one, event); }),
    between("StreamSynchronize", [](LogBuilder& to) { to.call(WatchCall::stream_sync, legacy); }),
    between("EventSynchronize", [](LogBuilder& to) { to.record(legacy, event).call(WatchCall::event_sync, 0, event); }),
    between("DeviceSynchronize", [](LogBuilder& to) { to.call(WatchCall::device_sync); }),
    {"EventQuery",
     [](LogBuilder& to, bool in_order) {
       upload(to, legacy).record(legacy, event);
       to.call(WatchCall::event_query, 0, event, 1, in_order ? 0 : watch_log::failed);
       download(to, one);
     }},
    {"ThreadsThatShareTheDefaultStream",
     [](LogBuilder& to, bool in_order) {
       upload(to.thread(1), legacy);
       download(to.thread(in_order ? 1 : 2), legacy);
     }},
    {"GraphInTheDefaultStream",
     [](LogBuilder& to, bool in_order) {
       to.graph(graph, device, host, size).graph_launch(legacy, graph);
       if (in_order) to.record(legacy, event).wait(one, event);
       download(to, one);
     }},
    {"GraphBehindTheDefaultStream",
     [](LogBuilder& to, bool in_order) {
       to.fill(in_order ? one : legacy, device, size).graph(graph, back, device, size).graph_launch(one, graph);
     }},
    {"GraphOfWhichANodeIsChanged",
     [](LogBuilder& to, bool in_order) {
       to.graph(graph, in_order ? device : back, host, size);
       to.node_update(graph, LogBuilder::first_node, in_order ? back : device, host, size).graph_launch(legacy, graph);
       to.fill(one, device, size);
     }},
    {"GraphOfWhichAllNodesAreReplaced",
     [](LogBuilder& to, bool in_order) {
       to.graph(graph, in_order ? device : back, host, size).graph_launch(one, graph);
       to.graph_update(graph, 0x20, in_order ? back : device, host, size).graph_launch(legacy, graph);
       to.fill(one, device, size);
     }},
    {"GraphThatHasTheHandleOfAnother",
     [](LogBuilder& to, bool in_order) {
       if (in_order) to.graph(graph, device, host, size, 0x30);
       to.graph(graph, in_order ? back : device, host, size).graph_launch(legacy, graph);
       to.fill(one, device, size);
     }},
    {"EventThatHasTheHandleOfAnother",
     [](LogBuilder& to, bool in_order) {
       upload(to, legacy).record(legacy, event);
       if (!in_order) to.call(WatchCall::event_destroy, 0, event);
       download(to.wait(one, event), one);
     }},
    {"EventsAcrossThreeStreams",
     [](LogBuilder& to, bool in_order) {
       upload(to, legacy).record(legacy, event).wait(other, event).record(other, later);
       if (in_order) to.wait(one, later);
       download(to, one);
     }},
    {"EventRecordedBeforeTheCopy",
     [](LogBuilder& to, bool in_order) {
       if (!in_order) to.record(legacy, event);
       upload(to, legacy);
       if (in_order) to.record(legacy, event);
       download(to.wait(one, event), one);
     }},
    {"BytesSideBySide",
     [](LogBuilder& to, bool in_order) {
       to.fill(legacy, device, size).copy(one, back, device + size - (in_order ? 0 : 1), size);
     }},
    {"TwoThatRead",
     [](LogBuilder& to, bool in_order) {
       download(to, legacy).copy(one, in_order ? back + size : device, in_order ? device : host, size);
     }},
    {"CopiesThatWait",
     [](LogBuilder& to, bool in_order) {
       to.waiting_copy(in_order ? to_host : on_device, back, device, size);
       upload(to, one);
     }},
    {"LegacyStreamByItsHandle",
     [](LogBuilder& to, bool in_order) {
       upload(to, legacy);
       if (in_order) to.by_handle();
       download(to, one);
     }},
    {"LegacyStreamByItsHandleBehindAnother",
     [](LogBuilder& to, bool in_order) {
       upload(download(to, one), legacy);
       if (in_order) to.by_handle();
     }},
    {"DefaultStreamBehindAnother",
     [](LogBuilder& to, bool in_order) { upload(download(to, one), in_order ? one : legacy); }},
};

/// Copies of other bytes in other streams, and waiting for what is not there.
void add_noise(LogBuilder& to, std::mt19937& random) {
  for (std::uint32_t left = static_cast<std::uint32_t>(random() % 4); left > 0; --left) {
    std::uint64_t const at = 0x9000'0000 + random() % 64 * size;
    switch (random() % 4) {
      case 0:
        to.copy(third, at, at + 64 * size, size);
        break;
      case 1:
        to.wait(other, 0xffff);
        break;
      case 2:
        to.record(third, 0xeeee);
        break;
      default:
        to.call(WatchCall::stream_query, third, 0, 1, watch_log::failed);
    }
  }
}

struct SeededProgram : testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(SeededProgram, IsAccusedIfNothingButTheLegacyStreamKeepsItsOrder) {
  auto const [number, in_order] = GetParam();
  std::mt19937 random(static_cast<std::uint32_t>(number));
  for (int round = 0; round < 20; ++round) {
    LogBuilder program;
    program.stream(one).stream(other).stream(third, false);
    add_noise(program, random);
    planted[number].write(program, in_order);
    add_noise(program, random);
    WatchLog const log = program.log();
    Hazards const hazards = find_hazards(log);
    EXPECT_EQ(hazards.count, in_order ? 0U : 1U) << as_text(hazards, log);
    EXPECT_EQ(hazards.unordered, 0u);
    ASSERT_EQ(hazards.pairs.size(), hazards.count);
    for (Hazard const& pair : hazards.pairs) EXPECT_LT(pair.first.call, pair.second.call);
    EXPECT_TRUE(hazards.complete);
  }
}

INSTANTIATE_TEST_SUITE_P(Hazards, SeededProgram,
                         testing::Combine(testing::Range(std::size_t{0}, std::size(planted)), testing::Bool()),
                         [](auto const& one_of_them) {
                           return planted[std::get<0>(one_of_them.param)].name +
                                  (std::get<1>(one_of_them.param) ? "InOrder" : "WithAHazard");
                         });

TEST(Hazards, NameTheBytesTheThreadsAndTheStreams) {
  LogBuilder program;
  program.stream(one).thread(3);
  upload(program, legacy);
  program.thread(4);
  for (int i = 0; i < 2; ++i) program.copy(one, back, device + 100, 50);
  WatchLog const log = program.log();
  Hazards const hazards = find_hazards(log);
  ASSERT_EQ(hazards.pairs.size(), 1u);
  EXPECT_EQ(hazards.pairs[0].address, device + 100);
  EXPECT_EQ(hazards.pairs[0].bytes, 50u);
  EXPECT_EQ(hazards.pairs[0].count, 2u);
  EXPECT_EQ(
      as_text(hazards, log),
      "  2 times: copy of thread 3 in the legacy default stream, which writes (correlation 2), then copy of thread 4 "
      "in stream 0x111, which reads (correlation 3), on 50 bytes they share\n");
}

TEST(Hazards, AreNoneOfAStreamThatDoesNotWaitForTheLegacyStream) {
  LogBuilder program;
  program.stream(one, false);
  download(upload(program, legacy), one);
  Hazards const hazards = find_hazards(program.log());
  EXPECT_EQ(hazards.count, 0u);
  EXPECT_EQ(hazards.unordered, 1u);
}

TEST(Hazards, AreNoneIfAThreadThatWaitedMayHaveToldTheOther) {
  LogBuilder program;
  program.stream(one);
  upload(program.thread(1), legacy).call(WatchCall::stream_sync, legacy);
  download(program.thread(2), one);
  Hazards const hazards = find_hazards(program.log());
  EXPECT_EQ(hazards.count, 0u);
  EXPECT_EQ(hazards.told, 1u);
}

TEST(Hazards, ArePairsOfLaunchesThatOnlyTheFenceOrders) {
  LogBuilder program;
  program.stream(one).stream(other);
  program.launch(one).launch(legacy).launch(legacy).record(one, event).wait(other, event).launch(other);
  Hazards const hazards = find_hazards(program.log());
  EXPECT_EQ(hazards.count, 0u);
  // Each launch with the last one of every other stream: twice one and legacy, once legacy and other.
  EXPECT_EQ(hazards.launches, 3u);
}

TEST(Hazards, AreNoneOfMemoryThatWasGivenBackAndIsAnothersNow) {
  LogBuilder program;
  program.stream(one).call(WatchCall::allocate, 0, device, size);
  upload(program, legacy).call(WatchCall::release, legacy, device).call(WatchCall::allocate, one, device, size);
  upload(program, one);
  Hazards const hazards = find_hazards(program.log());
  EXPECT_EQ(hazards.count, 0u);
}

/// A launch of a graph in the legacy stream, and a copy that it may have to be behind.
Hazards hazards_behind(LogBuilder& program) {
  program.graph_launch(legacy, graph);
  return find_hazards(download(program, one).log());
}

TEST(Hazards, OfGraphsOfWhichTheNodesAreNotKnownAreCounted) {
  LogBuilder never_seen, node, all, not_a_copy, another;
  EXPECT_EQ(hazards_behind(never_seen.stream(one)).unknown_bytes, 1u);
  node.stream(one).graph(graph, device, host, size).node_unknown(graph, LogBuilder::first_node);
  EXPECT_EQ(hazards_behind(node).unknown_bytes, 1u);
  all.stream(one).graph(graph, device, host, size).node_unknown(graph, 0);
  EXPECT_EQ(hazards_behind(all).unknown_bytes, 1u);
  not_a_copy.stream(one).graph(graph, device, host, size).node_unknown(graph, 0x77);
  Hazards const found = hazards_behind(not_a_copy);
  EXPECT_EQ(found.unknown_bytes, 0u);
  EXPECT_EQ(found.count, 1u);
  // The node is named by the graph that this one was made of, and its nodes are those of another.
  another.stream(one).graph(graph, device, host, size).graph_update(graph, 0x20, device, host, size);
  another.node_update(graph, LogBuilder::first_node, back, host, size);
  WatchLog const log = another.graph_launch(legacy, graph).log();
  EXPECT_EQ(find_hazards(log).unknown_bytes, 1u);
  EXPECT_EQ(as_text(find_hazards(log), log),
            "  1 copy or graph was left out, since it is not known which bytes they touch.\n");
}

TEST(Hazards, AreNoneOfWhatWentIntoAGraphOrFailed) {
  for (std::uint8_t const flag : {watch_log::captured, watch_log::failed}) {
    LogBuilder program;
    program.stream(one).call(WatchCall::fill, legacy, device, size, flag);
    download(program, one);
    EXPECT_EQ(find_hazards(program.log()).count, 0u);
  }
}

}  // namespace
}  // namespace penstock::cli
