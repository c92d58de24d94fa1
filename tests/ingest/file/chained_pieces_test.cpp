// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/chained_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "support/made_captures.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "penstock/error.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {
namespace {

using support::bytes_of;
using support::MadeCapture;
using testing::HasSubstr;
using namespace std::string_literals;

/// Records of a length in one byte, which counts what is behind it; `find` says where it thinks that one begins.
class Guessed final : public Framing {
 public:
  using Find = std::function<std::optional<std::size_t>(std::span<std::byte const>, std::size_t)>;
  explicit Guessed(Find find) : find_(std::move(find)) {}
  std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
    if (bytes.empty()) return std::nullopt;
    if (bytes[0] == std::byte{255}) throw Error(ErrorKind::bad_argument, "No record begins with 255.");
    return 1 + std::to_integer<std::uint64_t>(bytes[0]);
  }
  bool finds_records() const noexcept override { return true; }
  std::optional<std::size_t> find_record(std::span<std::byte const> all, std::size_t from, bool) const override {
    return find_(all, from);
  }

 private:
  Find const find_;
};

/// A file in memory that several threads read by pieces. Every test must leave with pieces that are where they say, and
/// follow one another.
struct AFileInChains : testing::Test {
  std::string text;
  RecordLoss loss;
  std::optional<std::string> problem;

  std::vector<std::string> records(Framing::OfInput const& of, std::size_t tile_bytes, unsigned threads = 3,
                                   LongRecords long_records = LongRecords::refuse) {
    ChainedPieces pieces(of, tile_bytes, text.size(), long_records, true);
    auto const read = [this](std::uint64_t offset, std::span<std::byte> to) {
      std::size_t const bytes = std::min<std::size_t>(to.size(), text.size() - offset);
      std::memcpy(to.data(), text.data() + offset, bytes);
      return bytes;
    };
    std::vector<ChainedPieces::Piece> all(pieces.count());
    auto const read_one = [&](std::uint64_t number, std::span<std::byte> tile) {
      all[number] = pieces.read(read, number, tile);
      EXPECT_EQ(support::text_of(tile.first(all[number].bytes)), text.substr(all[number].offset, all[number].bytes));
    };
    {
      std::atomic<std::uint64_t> next = 0;
      std::vector<std::jthread> readers;
      for (unsigned k = 0; k < threads; ++k) {
        readers.emplace_back([&] {
          std::vector<std::byte> tile(tile_bytes);
          for (std::uint64_t number = next++; number < pieces.count(); number = next++) read_one(number, tile);
        });
      }
    }
    EXPECT_TRUE(pieces.settled(pieces.count()));
    for (std::vector<std::byte> tile(tile_bytes); pieces.more();) {
      all.emplace_back();
      read_one(all.size() - 1, tile);
    }
    problem = pieces.problem();
    loss = {};
    std::vector<std::string> got;
    std::uint64_t behind = 0;
    for (auto const& piece : all) {
      loss += piece.loss;
      EXPECT_TRUE(piece.offset >= behind || piece.bytes == 0);
      behind = piece.offset + piece.bytes;
      auto const bytes = bytes_of(text).subspan(piece.offset, piece.bytes);
      std::size_t count = 0;
      if (piece.bytes == 0) continue;
      each_record(*piece.records.framing, bytes, [&](auto record) {
        got.push_back(support::text_of(record));
        EXPECT_EQ(piece.records.places.at(count++), record.data() - bytes.data());
      });
      EXPECT_EQ(piece.records.places.size(), count);
    }
    return got;
  }
};

/// Seen to fail if a guess is taken without a look at the end of the piece in front.
TEST_F(AFileInChains, HasAllItsRecordsWhateverIsGuessed) {
  std::mt19937 random(1);
  std::vector<std::string> wanted;
  for (int k = 0; k < 4000; ++k) {
    wanted.push_back(std::string(1 + random() % 200, 'x'));
    wanted.back().front() = static_cast<char>(wanted.back().size() - 1);
    text += wanted.back();
  }
  std::vector<Guessed::Find> const guesses{
      [](auto, std::size_t from) { return from; },
      [](auto all, std::size_t) { return all.size(); },
      [](auto, std::size_t from) { return from + 700; },
      [](auto, std::size_t) { return std::optional<std::size_t>(); },
      [](auto, std::size_t) { return std::size_t{0}; },
      [this](auto all, std::size_t from) {  // Serves as an oracle.
        void const* const seen = memmem(text.data(), text.size(), all.data(), all.size());
        auto const at = static_cast<std::size_t>(static_cast<char const*>(seen) - text.data());
        std::size_t begin = 0;
        while (begin < at + from) begin += std::size_t{1} + static_cast<unsigned char>(text[begin]);
        return begin - at;
      }};
  for (auto const& guess : guesses) {
    for (std::size_t const tile : {256U, 300U, 1024U, 65536U}) {
      ASSERT_EQ(records({std::make_shared<Guessed>(guess)}, tile), wanted) << tile;
      EXPECT_TRUE(loss.none() && !problem);
    }
  }
}

TEST_F(AFileInChains, CountsRecordsThatDoNotFitOrAreNotWhole) {
  text = "\3abc"s + "\x50" + std::string(80, 'b') + "\2cd" + "\5ab"s;
  auto const framing = std::make_shared<Guessed>([](auto, std::size_t from) { return from; });
  EXPECT_THAT(records({framing}, 64), testing::ElementsAre("\3abc", "\2cd"));
  EXPECT_EQ(loss, (RecordLoss{.refused = 1, .unfinished = 1}));
}

TEST_F(AFileInChains, IsReadUpToItsDamageAndBehindTheTileThatHasIt) {
  for (int k = 0; k < 300; ++k) text += "\11" + std::string(9, 'x');
  text[1000] = '\xFF';
  auto const oracle = std::make_shared<Guessed>([](auto, std::size_t from) { return (from + 9) / 10 * 10; });
  EXPECT_EQ(records({oracle}, 4096).size(), 100U);
  EXPECT_THAT(*problem,
              HasSubstr("begins with 255. That is at byte 1000: what is in front of it was read, and nothing"));
  auto const at_tens = std::make_shared<Guessed>([](auto all, std::size_t from) -> std::optional<std::size_t> {
    for (; from + 1 < all.size(); ++from)
      if (all[from] == std::byte{9}) return from;
    return std::nullopt;
  });
  std::size_t const got = records({at_tens}, 640).size();
  EXPECT_GT(got, 200U);
  EXPECT_LT(got, 300U);
  EXPECT_THAT(*problem,
              HasSubstr("at byte 1000: what is in front of it was read, and what was found from byte 1160 on"));
}

/// The block that it ends within is no packet, and larger than a tile.
TEST_F(AFileInChains, CountsALongBlockThatIsNotWhole) {
  MadeCapture capture(MadeCapture::Format::pcapng, false, false);
  std::string const packet = capture.add({"p"}), block = capture.block(10, std::string(9000, 's'));
  for (std::size_t const left : {std::size_t{8}, std::size_t{3000}, block.size() - 1}) {
    text = capture.text + block.substr(0, left);
    auto const of = captured_packets()->of_input(bytes_of(text).first(24));
    EXPECT_EQ(records(of, 4096).back(), packet) << left;
    EXPECT_EQ(loss, (RecordLoss{.unfinished = 1})) << left;
  }
  text = capture.text + block;
  EXPECT_EQ(records(captured_packets()->of_input(bytes_of(text).first(24)), 4096).back(), packet);
  EXPECT_TRUE(loss.none());
}

/// Real packets have all of this: none was captured, less was sent than captured, times step, tables of numbers.
MadeCapture some_capture(std::mt19937& random, MadeCapture::Format format, std::size_t packets) {
  MadeCapture capture(format, random() % 2 == 0, random() % 2 == 0);
  for (std::size_t k = 0; k < packets; ++k) {
    MadeCapture::Packet packet{support::some_bytes(random, random() % 10 == 0 ? 3000 : 100)};
    packet.nanoseconds = (random() % 3 == 0 ? random() : 1'700'000'000ULL) * 1'000'000'000 + random() % 1'000'000'000;
    if (random() % 10 == 0) packet.bytes.clear();
    if (random() % 10 == 0) packet.original = 1;
    if (random() % 8 == 0) {
      packet.bytes.clear();
      for (std::uint32_t at = 0; at < 60; at += random() % 3 == 0 ? 2U : 1U)
        packet.bytes += capture.word(at) + capture.word(at + 1) + capture.word(16) + capture.word(20);
    }
    if (random() % 20 == 0) packet.bytes = capture.text.substr(random() % capture.text.size(), random() % 900);
    bool const other = format == MadeCapture::Format::pcapng && random() % 10 == 0;
    if (other) {
      capture.text += capture.block(0x80000000U | static_cast<std::uint32_t>(random()) << 8U, packet.bytes);
    } else {
      capture.add(packet);
    }
  }
  return capture;
}

/// Seen to fail if guesses are not compared.
TEST_F(AFileInChains, HasAllPacketsOfAnyCaptureWithAnyTiles) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    auto const format = round % 2 == 0 ? MadeCapture::Format::pcap : MadeCapture::Format::pcapng;
    text = some_capture(random, format, 40 + random() % 1500).text;
    auto const of = captured_packets()->of_input(bytes_of(text).first(24));
    auto const wanted = support::records_of(*of.framing, bytes_of(text).subspan(of.head));
    for (std::size_t const tile : {std::size_t{4096}, 4096 + random() % 60'000, std::size_t{1} << 20U}) {
      ASSERT_EQ(records(of, tile, 1 + random() % 4), wanted) << "round " << round << ", tiles of " << tile;
      EXPECT_TRUE(loss.none() && !problem);
    }
  }
}

}  // namespace
}  // namespace penstock
