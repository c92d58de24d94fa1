// SPDX-License-Identifier: Apache-2.0
#include "penstock/framing/stream_cutter.hpp"

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

}  // namespace
}  // namespace penstock
