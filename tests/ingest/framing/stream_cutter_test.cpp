// SPDX-License-Identifier: Apache-2.0
#include "ingest/framing/stream_cutter.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

namespace penstock {
namespace {

using testing::ElementsAre;
using namespace std::string_literals;

/// A tile of sixteen bytes that a stream goes through. Every test must leave with tiles that hold whole records only,
/// each where the cutter says that it is in the stream.
struct AStreamInTiles : testing::Test {
  std::vector<std::byte> tile = std::vector<std::byte>(16);
  std::string stream;
  std::size_t at = 0;
  std::vector<std::string> tiles = {};
  bool exact = true;  ///< No part of a record is left out of a tile.

  /// The next tile of `stream`, which comes in pieces of so many bytes; nothing behind its end.
  std::optional<std::string> next(StreamCutter& cutter, auto piece) {
    std::size_t held = cutter.begin(tile);
    for (;;) {
      std::size_t const more = std::min({piece(), tile.size() - held, stream.size() - at});
      std::memcpy(tile.data() + held, stream.data() + at, more);
      at += more;
      bool const ended = at == stream.size();
      auto const cut = cutter.cut(tile, held + more, ended);
      held = cut.bytes;
      if (!cut.ready) continue;
      std::string const got = support::text_of(std::span(tile).first(cut.bytes));
      if (!got.empty()) {
        EXPECT_EQ(got, stream.substr(cutter.offset(), got.size()));
      }
      done_ = ended;
      return got;
    }
  }
  std::vector<std::string> all(StreamCutter& cutter, auto piece) {
    std::vector<std::string> got;
    done_ = false;
    at = 0;
    while (!done_) got.push_back(*next(cutter, piece));
    return got;
  }
  std::vector<std::string> all(FramingRef const& framing, std::size_t piece,
                               LongRecords long_records = LongRecords::refuse) {
    StreamCutter cutter(framing, long_records);
    auto got = all(cutter, [&] { return piece; });
    loss = cutter.loss();
    return got;
  }
  RecordLoss loss;

 private:
  bool done_ = false;
};

TEST_F(AStreamInTiles, GoesOnInTheNextTileWithWhatWasLeft) {
  stream = "one\ntwo\nthree\nfour\nfive\n";
  EXPECT_THAT(all(lines(), 100), ElementsAre("one\ntwo\nthree\n", "four\nfive\n"));
}

TEST_F(AStreamInTiles, LeavesWithTheRecordsThatThereAre) {
  stream = "one\ntwo\nthree";
  EXPECT_THAT(all(lines(), 2), ElementsAre("one\n", "two\n", "three"));
}

TEST_F(AStreamInTiles, HasALastLineWithoutItsEnd) {
  stream = "one\ntw";
  EXPECT_THAT(all(lines(), 100), ElementsAre("one\ntw"));
  EXPECT_TRUE(loss.none());
}

TEST_F(AStreamInTiles, LeavesOutARecordThatItEndsWithin) {
  stream = "\0\0\0\1a\0\0\0\3bc"s;
  EXPECT_THAT(all(length_prefixed(), 3), ElementsAre("\0\0\0\1a"s, ""));
  EXPECT_EQ(loss, RecordLoss{.unfinished = 1});
}

TEST_F(AStreamInTiles, LeavesOutARecordThatIsLongerThanATile) {
  stream = "a\n" + std::string(16, 'x') + "\nb\n" + std::string(50, 'y') + "\nc\n";
  for (std::size_t const piece : std::initializer_list<std::size_t>{1, 3, 16, 100}) {
    EXPECT_EQ(support::joined(all(lines(), piece)), "a\nb\nc\n") << piece;
    EXPECT_EQ(loss, RecordLoss{.refused = 2}) << piece;
  }
}

TEST_F(AStreamInTiles, KeepsTheBeginningOfSuchARecordIfAsked) {
  stream = "a\n" + std::string(16, 'x') + "\nb\n" + std::string(50, 'y') + "\nc\n";
  for (std::size_t const piece : std::initializer_list<std::size_t>{1, 3, 16, 100}) {
    EXPECT_EQ(support::joined(all(lines(), piece, LongRecords::truncate)),
              "a\n" + std::string(16, 'x') + "b\n" + std::string(16, 'y') + "c\n")
        << piece;
    EXPECT_EQ(loss, RecordLoss{.truncated = 2}) << piece;
  }
}

TEST_F(AStreamInTiles, FindsADelimiterThatBeginsInATileAndEndsBehindIt) {
  stream = std::string(15, 'x') + "<>b<>" + std::string(14, 'y') + "<>";
  for (std::size_t const piece : std::initializer_list<std::size_t>{1, 2, 16}) {
    EXPECT_EQ(support::joined(all(delimited_by("<>"), piece, LongRecords::truncate)),
              std::string(15, 'x') + "<" + "b<>" + std::string(14, 'y') + "<>")
        << piece;
    EXPECT_EQ(support::joined(all(delimited_by("<>"), piece)), "b<>" + std::string(14, 'y') + "<>") << piece;
  }
}

TEST_F(AStreamInTiles, LeavesOutARecordThatSaysItIsTooLong) {
  stream = "\0\0\0\15"s + std::string(13, 'x') + "\0\0\0\1a"s + "\0\0\0\100"s + std::string(64, 'y') + "\0\0\0\1b"s;
  for (std::size_t const piece : std::initializer_list<std::size_t>{1, 3, 16, 100}) {
    EXPECT_EQ(support::joined(all(length_prefixed(), piece)), "\0\0\0\1a\0\0\0\1b"s) << piece;
    EXPECT_EQ(loss, RecordLoss{.refused = 2}) << piece;
    EXPECT_EQ(support::joined(all(length_prefixed(), piece, LongRecords::truncate)),
              "\0\0\0\15"s + std::string(12, 'x') + "\0\0\0\1a"s + "\0\0\0\100"s + std::string(12, 'y') + "\0\0\0\1b"s)
        << piece;
    EXPECT_EQ(loss, RecordLoss{.truncated = 2}) << piece;
  }
}

TEST_F(AStreamInTiles, ThatEndsWithinALongRecordIsOver) {
  stream = "a\n" + std::string(40, 'x');
  EXPECT_EQ(support::joined(all(lines(), 5)), "a\n");
  EXPECT_EQ(loss, RecordLoss{.refused = 1});
}

class Unmissed final : public Framing {
 public:
  std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
    return length_prefixed()->record_bytes(bytes);
  }
  bool is_missed(std::span<std::byte const> /*bytes*/) const noexcept override { return false; }
};

TEST_F(AStreamInTiles, TellsThatItEndsWithinALongRecordThatIsNotMissed) {
  stream = "\0\0\0\1a"s + "\0\0\0\40"s + std::string(32, 'x') + "\0\0\0\40"s + std::string(31, 'y');
  for (std::size_t const piece : std::initializer_list<std::size_t>{1, 3, 16, 100}) {
    EXPECT_EQ(support::joined(all(std::make_shared<Unmissed>(), piece)), "\0\0\0\1a"s) << piece;
    EXPECT_EQ(loss, RecordLoss{.unfinished = 1}) << piece;
  }
}

/// Records in brackets, which may have brackets in them: the end of one can be found from its beginning only.
class Bracketed final : public Framing {
 public:
  std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
    int open = 0;
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      open += bytes[k] == std::byte{'('} ? 1 : bytes[k] == std::byte{')'} ? -1 : 0;
      if (open == 0) return k + 1;
    }
    return std::nullopt;
  }
};

TEST_F(AStreamInTiles, TakesAFramingOfTheUsers) {
  stream = "(a)((b)(c))(d)";
  for (std::size_t const piece : std::initializer_list<std::size_t>{1, 4, 100}) {
    EXPECT_EQ(support::joined(all(std::make_shared<Bracketed>(), piece)), stream);
  }
}

TEST_F(AStreamInTiles, CannotGoOnBehindALongRecordWhoseEndIsNotKnown) {
  stream = "(a)(" + std::string(16, 'x') + ")";
  EXPECT_THROW(all(std::make_shared<Bracketed>(), 5), Error);
}

TEST_F(AStreamInTiles, BeginsAnewForAnotherStream) {
  StreamCutter cutter(lines(), LongRecords::refuse);
  stream = std::string(20, 'x');
  all(cutter, [] { return std::size_t{100}; });
  cutter.restart();
  stream = "b\n";
  EXPECT_THAT(all(cutter, [] { return std::size_t{100}; }), ElementsAre("b\n"));
  EXPECT_EQ(cutter.offset(), 0U);
}

TEST_F(AStreamInTiles, LosesNoRecordThatFitsHoweverItComes) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::string const delimiter = round % 3 == 0 ? "\n" : round % 3 == 1 ? "<>" : "abc";
    auto const framing = delimited_by(delimiter);
    auto const records = support::delimited_records(60, delimiter, 24, random);
    stream = support::joined(records);
    StreamCutter cutter(framing, LongRecords::refuse);
    std::vector<std::string> got;
    for (std::string const& whole : all(cutter, [&] { return 1 + random() % 20; })) {
      for (std::string const& record : support::records_of(*framing, support::bytes_of(whole))) got.push_back(record);
    }
    std::vector<std::string> fit;
    std::ranges::copy_if(records, std::back_inserter(fit), [](auto const& record) { return record.size() <= 16; });
    ASSERT_EQ(got, fit) << "round " << round;
    ASSERT_EQ(cutter.loss(), RecordLoss{.refused = records.size() - fit.size()});
  }
}

/// Tiles of sixteen bytes that three streams share, which come bit by bit in any order, and break off.
struct StreamsInOneTile : testing::Test {
  static constexpr std::size_t tile_bytes = 16;
  struct Peer {
    StreamCutter cutter;
    std::string stream = {};
    std::size_t at = 0;
    std::string got = {};
  };
  std::mt19937 random{11};
  std::vector<std::byte> tile = std::vector<std::byte>(tile_bytes);
  std::size_t used = 0;

  /// Gives a peer's cutter up to `most` bytes; false if the tile has no room for what it holds.
  bool feed(Peer& peer, std::size_t most, bool ends) {
    auto const room = std::span(tile).subspan(used);
    std::size_t const held = peer.cutter.held();
    if (held >= room.size()) return false;
    std::size_t const more = std::min({most, room.size() - held, peer.stream.size() - peer.at});
    std::memcpy(room.data() + held, peer.stream.data() + peer.at, more);
    peer.at += more;
    auto const cut = peer.cutter.take(room, more, ends && peer.at == peer.stream.size() && more == 0, tile_bytes);
    if (!cut.ready) return true;
    std::string const whole = support::text_of(room.first(cut.bytes));
    if (!whole.empty()) {
      EXPECT_EQ(whole, peer.stream.substr(peer.cutter.offset(), cut.bytes));
    }
    peer.got += whole;
    used += cut.bytes;
    return true;
  }
  void all(std::vector<Peer>& peers) {
    std::size_t first = 0;
    for (std::size_t left = peers.size(); left > 0;) {
      left = 0;
      for (std::size_t k = 0; k < peers.size(); ++k) {
        Peer& peer = peers[(first + k) % peers.size()];
        if (peer.at < peer.stream.size()) ++left;
        if (feed(peer, 1 + random() % 9, false)) continue;
        // The tile leaves; this peer is the first of the next one.
        used = 0;
        first = (first + k) % peers.size();
        ++left;
        break;
      }
    }
    for (Peer& peer : peers) {
      used = 0;
      feed(peer, 0, true);
    }
  }
};

TEST_F(StreamsInOneTile, LoseNoRecordThatFits) {
  for (int round = 0; round < 400; ++round) {
    bool const truncates = round % 2 == 1;
    auto const framing = delimited_by(round % 3 == 0 ? "\n" : "<>");
    std::vector<Peer> peers;
    std::vector<std::string> wanted(3);
    std::vector<std::uint64_t> long_ones(3);
    for (std::size_t k = 0; k < 3; ++k) {
      peers.push_back({StreamCutter::of_peer(framing, truncates ? LongRecords::truncate : LongRecords::refuse)});
      for (auto const& record : support::delimited_records(40, round % 3 == 0 ? "\n" : "<>", 24, random)) {
        peers[k].stream += record;
        bool const fits = record.size() <= tile_bytes;
        if (fits || truncates) wanted[k] += record.substr(0, tile_bytes);
        if (!fits) ++long_ones[k];
      }
      if (k == 2) peers[k].stream += "abc";
    }
    all(peers);
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(peers[k].got, wanted[k]) << "round " << round << ", peer " << k;
      RecordLoss loss{.unfinished = k == 2 ? 1U : 0U};
      (truncates ? loss.truncated : loss.refused) = long_ones[k];
      ASSERT_EQ(peers[k].cutter.loss(), loss) << "round " << round << ", peer " << k;
    }
  }
}

TEST_F(StreamsInOneTile, SkipARecordThatSaysItIsTooLong) {
  for (auto const long_records : {LongRecords::refuse, LongRecords::truncate}) {
    std::vector<Peer> peers;
    peers.push_back({StreamCutter::of_peer(length_prefixed(), long_records),
                     "\0\0\0\1a\0\0\0\100"s + std::string(64, 'y') + "\0\0\0\1b"s});
    peers.push_back({StreamCutter::of_peer(length_prefixed(), long_records), "\0\0\0\1c\0\0\0\2d"s});
    used = 0;
    all(peers);
    bool const truncates = long_records == LongRecords::truncate;
    EXPECT_EQ(peers[0].got, "\0\0\0\1a"s + (truncates ? "\0\0\0\100"s + std::string(12, 'y') : "") + "\0\0\0\1b"s);
    EXPECT_EQ(peers[0].cutter.loss(), (truncates ? RecordLoss{.truncated = 1} : RecordLoss{.refused = 1}));
    EXPECT_EQ(peers[1].got, "\0\0\0\1c"s);
    EXPECT_EQ(peers[1].cutter.loss(), RecordLoss{.unfinished = 1});
  }
}

}  // namespace
}  // namespace penstock
