// SPDX-License-Identifier: Apache-2.0
#include "records/windows/reorder_stream.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "engine/core/pool.hpp"

namespace penstock {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

/// Content of a tile when it left.
struct SentRows {
  RowsOfTile says;
  std::vector<std::uint64_t> numbers;  ///< Numbers in its rows, in order; those that are absent are left out.
  std::size_t filled = 0;
  bool operator==(SentRows const&) const = default;
};

/// A stream of records of eight bytes in tiles of at most 64 rows. It must leave with all tiles home.
struct AStreamOfNumbers : testing::Test {
  static constexpr std::size_t most_rows = 64, tiles = 8;
  static constexpr TileShape shape{.input_bytes = 8 * most_rows, .more_input_bytes = {present_mask_bytes(most_rows)}};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, tiles));
  Pool pool{slab, shape, tiles};
  ReorderOptions options{.record_bytes = 8,
                         .rows = 4,
                         .sequence_bits = 16,
                         .window_tiles = 2,
                         .linger = milliseconds(5),
                         .most_ahead = 3000,
                         .most_behind = 3000};
  std::optional<ReorderStream> made;
  std::vector<SentRows> sent;
  Clock::time_point now{};

  void TearDown() override {
    made.reset();
    EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home";
  }
  ReorderStream& stream() {
    if (!made) made.emplace(options, 3, [this](Loan loan) { return note(*loan); });
    return *made;
  }
  bool note(Tile const& tile) {
    SentRows one{rows_of(tile), {}, tile.filled};
    EXPECT_EQ(tile.tag, 3U);
    for (std::size_t row = 0; row < one.says.rows; ++row) {
      if (!is_present(present_mask_of(tile), row)) continue;
      std::uint64_t number = 0;
      std::memcpy(&number, &tile.input()[8 * row], 8);
      one.numbers.push_back(number);
      EXPECT_LE(8 * row + 8, tile.filled);
    }
    EXPECT_EQ(one.says.present, one.numbers.size());
    sent.push_back(std::move(one));
    return true;
  }
  Placed place(std::uint64_t number, std::uint64_t content) {
    auto const bytes = std::as_bytes(std::span(&content, 1));
    Loan spare;
    if (auto const placed = stream().place(number, bytes, spare, now)) return *placed;
    spare = pool.borrow();
    return stream().place(number, bytes, spare, now).value();
  }
  Placed place(std::uint64_t number) { return place(number, number); }
};

/// Model that follows records by their true positions, one at a time and without arithmetic that wraps.
struct PlainModel {
  ReorderOptions options;
  std::set<std::int64_t> placed;
  std::map<std::int64_t, std::int64_t> given_up_to;  ///< Keyed by tile.
  std::map<std::int64_t, Clock::time_point> open;    ///< Tiles, since when.
  std::int64_t least = 0, greatest = 0, passed = 0;  ///< Tiles before `passed` have left for good.
  bool began = false, fixed = false;
  ReorderCounts counts;

  std::int64_t rows() const { return static_cast<std::int64_t>(options.rows); }
  std::int64_t tile_of(std::int64_t position) const { return position / rows(); }
  bool given_up(std::int64_t position) const {
    auto const its = given_up_to.find(tile_of(position));
    return its != given_up_to.end() && position < its->second;
  }
  void give_up(std::int64_t tile, std::int64_t end) {
    end = std::min(end, (tile + 1) * rows());
    std::int64_t& done = given_up_to.try_emplace(tile, tile * rows()).first->second;
    for (; done < end; ++done, fixed = true) counts.lost += done >= least && !placed.contains(done) ? 1U : 0U;
  }
  void leave(std::int64_t tile, RowsLeft why) {
    if (open.erase(tile) != 0) ++counts.left[static_cast<std::size_t>(why)];
  }
  Placed place(std::int64_t position, Clock::time_point now) {
    if (!began) least = greatest = position, passed = tile_of(position), began = true;
    greatest = std::max(greatest, position);
    std::int64_t const first = tile_of(greatest) - static_cast<std::int64_t>(options.window_tiles) + 1;
    for (; passed < first; ++passed) {
      give_up(passed, (passed + 1) * rows());
      leave(passed, RowsLeft::passed);
    }
    std::int64_t const tile = tile_of(position);
    if (tile < first || (fixed && position < least)) return ++counts.late, Placed::late;
    if (placed.contains(position)) return ++counts.duplicates, Placed::duplicate;
    if (given_up(position)) return ++counts.late, Placed::late;
    placed.insert(position);
    least = std::min(least, position);
    passed = std::min(passed, tile);
    open.try_emplace(tile, now);
    ++counts.placed;
    bool complete = true;
    for (std::int64_t p = tile * rows(); p < (tile + 1) * rows(); ++p) {
      complete = complete && (placed.contains(p) || given_up(p));
    }
    if (complete) leave(tile, RowsLeft::complete);
    return Placed::placed;
  }
  void wait(Clock::time_point now) {
    auto const due = open;
    for (auto const& [tile, since] : due) {
      if (since + options.linger > now) continue;
      give_up(tile, greatest + 1);
      leave(tile, RowsLeft::waited);
    }
  }
  void flush() {
    for (std::int64_t tile = passed; tile <= tile_of(greatest); ++tile) {
      give_up(tile, greatest + 1);
      leave(tile, RowsLeft::asked);
    }
  }
};

TEST_F(AStreamOfNumbers, PutsEachRecordWhereAPlainModelDoesWhateverIsLostDoubledAndReordered) {
  struct Case {
    unsigned bits;
    std::size_t rows, window;
    std::uint64_t first;
  };
  unsigned seed = 0;
  for (Case const& its : {Case{8, 4, 2, 250}, Case{16, 5, 3, 65'500}, Case{32, 64, 2, 4'294'967'000},
                          Case{64, 16, 1, 0}, Case{64, 7, 4, ~std::uint64_t{0} - 100}, Case{16, 1, 8, 7}}) {
    made.reset(), sent.clear(), now = {};
    options.sequence_bits = its.bits, options.rows = its.rows, options.window_tiles = its.window;
    options.most_ahead = options.most_behind = std::min<std::uint64_t>(3000, (std::uint64_t{1} << (its.bits - 1)) - 1);
    PlainModel model;
    model.options = options;
    std::mt19937 random(++seed);
    // Positions begin far above 0, so that none is below it.
    std::int64_t const first = 1000 * model.rows() + static_cast<std::int64_t>(its.first % its.rows);
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    for (std::int64_t k = 0; k < 2000; ++k) {
      if (random() % 20 == 0) continue;
      if (random() % 400 == 0) k += 30;
      for (int times = random() % 20 == 0 ? 2 : 1; times > 0; --times) {
        order.emplace_back(k + static_cast<std::int64_t>(random() % (random() % 10 == 0 ? 40 : 3)), k);
      }
    }
    std::ranges::sort(order);
    for (auto const& [when, k] : order) {
      now += std::chrono::microseconds(random() % 50 == 0 ? 3000 : 100);
      stream().send_waiting(now);
      model.wait(now);
      std::uint64_t const number = its.first + static_cast<std::uint64_t>(k);
      std::uint64_t const wire = its.bits == 64 ? number : number & ((std::uint64_t{1} << its.bits) - 1);
      ASSERT_EQ(place(wire, number), model.place(first + k, now)) << k << " of seed " << seed;
    }
    stream().flush();
    model.flush();
    EXPECT_EQ(stream().counts(), model.counts) << "seed " << seed;
    EXPECT_EQ(stream().counts().received(), order.size());
    std::vector<std::uint64_t> numbers;
    for (SentRows const& one : sent) {
      for (std::uint64_t const number : one.numbers) {
        numbers.push_back(number);
        EXPECT_LT(number - one.says.first, its.rows) << "it is in another tile";
      }
    }
    EXPECT_EQ(numbers.size(), model.placed.size());
    EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), numbers.size()) << "a record is there twice";
    EXPECT_EQ(numbers.size() + model.counts.lost, static_cast<std::uint64_t>(model.greatest - model.least + 1))
        << "placed and lost are all there is";
  }
}

TEST_F(AStreamOfNumbers, LosesNothingOfASenderThatIsSlow) {
  for (std::uint64_t const number : {0U, 1U, 2U, 3U, 4U}) {
    EXPECT_EQ(place(number), Placed::placed);
    now += milliseconds(6);
    EXPECT_FALSE(stream().send_waiting(now));
  }
  ASSERT_EQ(sent.size(), 5U);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(sent[k].says.first, 0U);
  EXPECT_EQ(sent[3].says.why, RowsLeft::complete);
  EXPECT_EQ(stream().counts().lost, 0U);
}

TEST_F(AStreamOfNumbers, GivesUpWhatIsMissingOnceItsTileHasWaited) {
  for (std::uint64_t const number : {0U, 2U}) place(number);
  EXPECT_EQ(stream().send_waiting(now), now + milliseconds(5));
  now += milliseconds(5);
  EXPECT_FALSE(stream().send_waiting(now));
  EXPECT_EQ(place(1), Placed::late);
  EXPECT_EQ(place(2), Placed::duplicate);
  EXPECT_EQ(place(3), Placed::placed);
  EXPECT_EQ(stream().counts().lost, 1U);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_THAT(sent[0].numbers, ElementsAre(0, 2));
  EXPECT_THAT(sent[1].numbers, ElementsAre(3));
  EXPECT_EQ(sent[1].says, (RowsOfTile{.stream = 3, .rows = 4, .present = 1, .why = RowsLeft::complete}));
}

TEST_F(AStreamOfNumbers, BeginsAgainWhereTwoRecordsInARowSay) {
  place(100), place(101);
  EXPECT_EQ(place(40'000), Placed::refused);
  EXPECT_EQ(place(102), Placed::placed) << "one wrong number changes nothing";
  EXPECT_EQ(place(40'001), Placed::refused) << "the first one is forgotten";
  EXPECT_EQ(place(40'002), Placed::placed);
  EXPECT_EQ(place(40'003), Placed::placed);
  stream().flush();
  EXPECT_EQ(stream().counts().restarts, 1U);
  EXPECT_EQ(stream().counts().refused, 2U);
  EXPECT_EQ(stream().counts().lost, 0U);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_THAT(sent[0].numbers, ElementsAre(100, 101, 102));
  EXPECT_THAT(sent[1].numbers, ElementsAre(40'002, 40'003));
}

TEST_F(AStreamOfNumbers, BeginsAgainBeforeItsPositionsLeaveTheirRange) {
  options.sequence_bits = 64;
  options.most_ahead = options.most_behind = std::uint64_t{1} << 61;
  for (std::uint64_t const hops : {0U, 1U, 2U}) EXPECT_EQ(place(hops << 61), Placed::placed);
  EXPECT_EQ(place(std::uint64_t{3} << 61), Placed::refused);
  for (std::uint64_t const hops : {0U, 1U}) EXPECT_EQ(place(((3 + hops) << 61) + 1), Placed::placed);
  stream().flush();
  EXPECT_EQ(stream().counts().restarts, 1U);
}

TEST_F(AStreamOfNumbers, ClearsRowsThatAreAbsent) {
  std::ranges::fill(slab, std::byte{0xff});
  place(1), place(3);
  made.emplace(options, 3, [this](Loan loan) {
    EXPECT_EQ(loan->input()[0], std::byte{0});
    EXPECT_EQ(loan->input()[16], std::byte{0});
    return note(*loan);
  });
  place(1), place(3);
  stream().flush();
  EXPECT_EQ(sent.at(0).filled, 32U);
}

}  // namespace
}  // namespace penstock
