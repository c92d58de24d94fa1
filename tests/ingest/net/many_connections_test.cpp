// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/records_of_text.hpp"
#include <gmock/gmock.h>
#include <malloc.h>
#include <sys/resource.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "ingest/net/peer.hpp"
#include "penstock/ingest/sockets.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using support::Peer;

/// A server with four producers and two lanes, and threads of peers. Every test must leave with each record of each
/// peer, in its order.
struct AServerOfMany : testing::Test {
  cpu::CpuDevice device;
  Pipeline pipeline{device,
                    {.tile = {.input_bytes = 16384, .more_input_bytes = {16384}},
                     .producers = 4,
                     .lanes = 2,
                     .tuning = {.tiles = 8}}};
  struct Part {
    std::uint64_t sequence;
    Stretch stretch;
    std::string text;
  };
  std::map<std::uint64_t, std::vector<Part>> got;  ///< Parts of each connection.
  Report report;
  ConnectionCounts counts;

  /// Allows as many descriptors as may be; returns how many that is.
  static std::size_t descriptors() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
  }

  void run(std::vector<std::string> const& addresses, ConnectionSourceOptions const& options, auto peers) {
    ConnectionSource source(addresses, pipeline.pool(), options);
    std::jthread const others([&] { peers(source.addresses()); });
    report = pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& completion) {
      if (!completion.ok()) return;
      Tile const& tile = *completion.loan;
      for (Stretch const& stretch : source.stretches_of(tile)) {
        got[stretch.from].push_back(
            {tile.sequence, stretch, support::text_of(tile.filled_input().subspan(stretch.offset, stretch.bytes))});
      }
    });
    EXPECT_EQ(report.ok(), source.counts().loss.none()) << describe(report);
    EXPECT_EQ(report.tiles_failed + report.tiles_cancelled, 0U) << describe(report);
    EXPECT_EQ(pipeline.pool().on_loan(), 0U);
    counts = source.counts();
    for (auto& [connection, parts] : got) std::ranges::stable_sort(parts, {}, &Part::sequence);
  }
  /// The bytes of a connection, in the order of the tiles, which must be that of its stream.
  std::string stream(std::uint64_t connection) {
    std::string all;
    for (Part const& part : got.at(connection)) {
      EXPECT_EQ(part.stretch.at, all.size()) << "connection " << connection;
      all += part.text;
    }
    return all;
  }
};

TEST_F(AServerOfMany, KeepsTheRecordsOfEachInOrderAndApart) {
  std::size_t const count = std::min<std::size_t>(1000, descriptors() / 2 - 100);
  constexpr int records = 40;
  auto const record_of = [](std::size_t name, int number) {
    return std::to_string(name) + ":" + std::to_string(number) + std::string(name * 7 % 90, 'x') + "\n";
  };
  // Half are slow, and send a few bytes at a time; each fifth breaks off in mid-record, half of those by a reset.
  auto const peers = [&](std::vector<std::string> const& addresses) {
    std::mt19937 random(5);
    std::vector<Peer> all;
    std::vector<std::string> left(count);
    for (std::size_t name = 0; name < count; ++name) {
      all.emplace_back(addresses[name % addresses.size()]);
      for (int k = 0; k < records; ++k) left[name] += record_of(name, k);
      if (name % 5 == 0) left[name] += std::to_string(name) + ":half";
    }
    std::vector<std::size_t> going(count);
    for (std::size_t k = 0; k < count; ++k) going[k] = k;
    while (!going.empty()) {
      std::size_t const turn = random() % going.size();
      std::size_t const name = going[turn];
      std::size_t const most = name % 2 == 0 ? 300 : 2000;
      std::size_t const more = std::min<std::size_t>(left[name].size(), 1 + random() % most);
      all[name].send(left[name].substr(0, more));
      left[name].erase(0, more);
      if (!left[name].empty()) continue;
      name % 10 == 0 ? all[name].reset() : all[name].end();
      going[turn] = going.back();
      going.pop_back();
    }
  };
  run({"tcp:127.0.0.1:0", "unix:@penstock-many-" + std::to_string(getpid())},
      {.connections = count, .framing = lines(), .readers = 3}, peers);
  std::size_t whole = 0;
  for (auto const& [connection, parts] : got) {
    std::string const text = stream(connection);
    std::size_t const name = std::stoul(text);
    std::string wanted;
    for (int k = 0; k < records; ++k) wanted += record_of(name, k);
    // A reset drops what the other side has not taken yet.
    ASSERT_TRUE(text == wanted || (name % 10 == 0 && wanted.starts_with(text) && text.ends_with('\n'))) << text;
    if (name % 10 != 0) ++whole;
  }
  EXPECT_EQ(whole, count - (count + 9) / 10);
  EXPECT_EQ(counts.accepted, count);
  EXPECT_EQ(counts.open, 0U);
  EXPECT_EQ(counts.broken, (count + 9) / 10);
  EXPECT_GE(counts.loss.unfinished, count / 10);
  EXPECT_LE(counts.loss.unfinished, (count + 4) / 5);
}

TEST_F(AServerOfMany, HasBytesOfOneConnectionInTheOrderOfTiles) {
  std::string sent;
  for (int k = 0; k < 300'000; ++k) sent += std::to_string(k) + "\n";
  run({"tcp:127.0.0.1:0"}, {.connections = 1, .framing = lines()}, [&](std::vector<std::string> const& addresses) {
    Peer const peer(addresses[0]);
    peer.send(sent);
  });
  EXPECT_EQ(stream(0), sent);
}

TEST(AConnectionThatIsSilent, KeepsNoMemoryOfALongRecord) {
  constexpr std::size_t line_bytes = std::size_t{1} << 20;
  TileShape const shape{.input_bytes = line_bytes};
  std::vector<std::byte> memory(Pool::slab_bytes(shape, 1));
  Pool pool(memory, shape, 1);
  ConnectionSource source({"tcp:127.0.0.1:0"}, pool, {.framing = lines(), .linger = {}});
  Peer const peer(source.addresses().front());
  std::string line = std::string(line_bytes - 1, 'x') + "\n";
  auto const in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };  // 0 with a sanitizer.
  std::size_t const before = in_use();
  for (int k = 0; k < 2; ++k) {
    std::jthread const sends([&] { peer.send(line + "rest"); });
    Loan const loan = pool.borrow();
    ASSERT_TRUE(source.next(*loan));
    EXPECT_EQ(source.fill(*loan), line_bytes);
    line.erase(0, 4);
  }
  EXPECT_LT(in_use(), before + line_bytes / 2);
}

TEST(SeveralSocketsOfAnAddress, BringEachSendersDatagramsInOrder) {
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = 8192}, .producers = 4, .ordered = true, .tuning = {.tiles = 8}});
  std::stop_source stop;
  DatagramSource source({"udp:127.0.0.1:0"}, pipeline.pool(), {.stop = stop.get_token(), .sockets = 3});
  constexpr int senders = 8, each = 200, most_ahead = 64;
  std::atomic<int> came{0};
  std::jthread const sends([&] {
    std::vector<Peer> peers;
    for (int k = 0; k < senders; ++k) peers.emplace_back(source.addresses().front());
    for (int k = 0; k < senders * each; ++k) {
      while (k - came > most_ahead) std::this_thread::yield();  // No buffer is full then.
      auto const name = static_cast<std::size_t>(k % senders);
      peers[name].send_datagram(std::to_string(name) + ":" + std::to_string(k / senders));
    }
  });
  std::array<int, senders> next{};
  Report const report = pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& done) {
    for (Stretch const& stretch : source.stretches_of(*done.loan)) {
      std::string const text = support::text_of(done.loan->filled_input().subspan(stretch.offset, stretch.bytes));
      EXPECT_EQ(std::stoi(text.substr(2)), next.at(static_cast<std::size_t>(text[0] - '0'))++) << text;
      if (++came == senders * each) stop.request_stop();
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(source.counts().datagrams, std::uint64_t{senders * each});
  EXPECT_EQ(source.counts().dropped, 0U);
  EXPECT_EQ(pipeline.pool().on_loan(), 0U);
}

}  // namespace
}  // namespace penstock
