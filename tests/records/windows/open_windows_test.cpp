// SPDX-License-Identifier: Apache-2.0
#include "records/windows/open_windows.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "engine/core/pool.hpp"

namespace penstock {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

struct SentWindow {
  WindowOfTile says;
  std::vector<std::int64_t> records;
};

/// Windows of ten, with tiles that have room for four records of eight bytes. It must leave with all tiles home.
struct WindowsOfTen : testing::Test {
  static constexpr TileShape shape{.input_bytes = 32, .more_input_bytes = {sizeof(WindowOfTile)}};
  static constexpr std::size_t tiles = 40;
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, tiles));
  Pool pool{slab, shape, tiles};
  TimeWindowsOptions options{.length = 10, .deadline = milliseconds(5), .most_open = 3};
  std::optional<OpenWindows> made;
  std::vector<SentWindow> sent;
  Clock::time_point now{};

  void TearDown() override {
    made.reset();
    EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home";
  }
  OpenWindows& windows() {
    if (!made) made.emplace(options, shape.input_bytes, [this](Loan loan) { return note(*loan); });
    return *made;
  }
  bool note(Tile const& tile) {
    auto const records = elements<std::int64_t>(tile.filled_input());
    sent.push_back({window_of(tile), {records.begin(), records.end()}});
    EXPECT_EQ(sent.back().says.records, records.size());
    return true;
  }
  Windowed add(std::int64_t time, std::size_t stream = 0) {
    auto const bytes = std::as_bytes(std::span(&time, 1));
    Loan spare;
    if (auto const became = windows().add(stream, time, bytes, spare, now)) return *became;
    spare = pool.borrow();
    return windows().add(stream, time, bytes, spare, now).value();
  }
  std::vector<std::int64_t> begins() const {
    std::vector<std::int64_t> all;
    for (SentWindow const& one : sent) all.push_back(one.says.begin);
    return all;
  }
};

TEST_F(WindowsOfTen, HaveEachRecordThatComesBeforeTheWatermarkAndNoOther) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    made.reset(), sent.clear();
    std::size_t const streams = 1 + seed % 3;
    options = {
        .length = 10, .lateness = static_cast<std::int64_t>(7 * (seed % 4)), .streams = streams, .most_open = 30};
    std::mt19937 random(seed);
    std::vector<std::int64_t> greatest(streams, std::numeric_limits<std::int64_t>::min());
    std::map<std::int64_t, std::vector<std::int64_t>> expected;
    std::uint64_t late = 0;
    for (std::int64_t k = -300; k < 700; ++k) {
      std::size_t const stream = random() % streams;
      std::int64_t const time = k / 4 - static_cast<std::int64_t>(random() % (random() % 20 == 0 ? 60 : 12));
      greatest[stream] = std::max(greatest[stream], time);
      std::int64_t const least = *std::ranges::min_element(greatest);
      std::int64_t const begin = (time + 1000) / 10 * 10 - 1000;
      bool const is_late = least > -1000 && begin + 10 <= least - options.lateness;
      ASSERT_EQ(add(time, stream), is_late ? Windowed::late : Windowed::placed) << time << " of seed " << seed;
      if (!is_late) expected[begin].push_back(time);
      late += is_late ? 1 : 0;
    }
    windows().flush();
    std::map<std::int64_t, std::vector<std::int64_t>> had;
    std::vector<std::int64_t> closed;
    for (SentWindow const& one : sent) {
      auto& its = had[one.says.begin];
      EXPECT_EQ(one.says.part * 4, its.size()) << "a tile that is not full was not the last";
      its.insert(its.end(), one.records.begin(), one.records.end());
      if (one.says.last()) closed.push_back(one.says.begin);
    }
    EXPECT_EQ(had, expected) << "seed " << seed;
    EXPECT_TRUE(std::ranges::is_sorted(closed));
    EXPECT_EQ(closed.size(), expected.size()) << "each window closes once";
    EXPECT_EQ(windows().counts().late, late);
    EXPECT_EQ(windows().counts().received(), 1000U);
    EXPECT_EQ(windows().counts().windows_closed(WindowClosed::room), 0U);
  }
}

TEST_F(WindowsOfTen, SpanSeveralTilesOfWhichTheLastSaysSo) {
  for (std::int64_t time = 0; time < 8; ++time) add(time);
  EXPECT_EQ(sent.size(), 1U) << "a tile that is full stays until another record comes, since it may be the last";
  add(10);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].says, (WindowOfTile{.begin = 0, .end = 10, .records = 4}));
  EXPECT_EQ(sent[1].says,
            (WindowOfTile{.begin = 0, .end = 10, .records = 4, .part = 1, .closed = WindowClosed::watermark}));
  windows().flush();
}

TEST_F(WindowsOfTen, CloseByTheirDeadlineWithThoseBeforeThem) {
  options.lateness = 100;
  add(25);
  now += milliseconds(1);
  add(15), add(31);
  EXPECT_EQ(windows().close_overdue(now), now + milliseconds(4));
  now += milliseconds(4);
  EXPECT_EQ(windows().close_overdue(now), now + milliseconds(1));
  EXPECT_THAT(begins(), ElementsAre(10, 20));
  EXPECT_EQ(add(19), Windowed::late);
  EXPECT_EQ(add(30), Windowed::placed);
  EXPECT_EQ(windows().counts().windows_closed(WindowClosed::deadline), 2U);
  windows().flush();
}

TEST_F(WindowsOfTen, CloseTheFirstIfThereIsNoRoomForAnother) {
  options.lateness = 1000;
  for (std::int64_t const time : {10, 20, 30, 40}) EXPECT_EQ(add(time), Windowed::placed);
  EXPECT_EQ(add(0), Windowed::late) << "it would be the first";
  EXPECT_THAT(begins(), ElementsAre(10));
  EXPECT_EQ(sent[0].says.closed, WindowClosed::room);
  windows().flush();
}

TEST_F(WindowsOfTen, WaitForAStreamThatIsBehindOrHasBroughtNothing) {
  options.streams = 2;
  add(5, 0), add(25, 0);
  EXPECT_EQ(sent.size(), 0U);
  EXPECT_EQ(add(9, 1), Windowed::placed);
  EXPECT_EQ(add(12, 1), Windowed::placed);
  EXPECT_THAT(begins(), ElementsAre(0));
  windows().flush();
}

TEST_F(WindowsOfTen, RefuseATimeThatIsTooFarAhead) {
  options.most_ahead = 100;
  add(0), add(0);
  EXPECT_EQ(add(101), Windowed::refused);
  EXPECT_EQ(add(9), Windowed::placed) << "its window has not closed";
  EXPECT_EQ(add(100), Windowed::placed);
  windows().flush();
}

TEST_F(WindowsOfTen, BelieveNoFirstTimeThatIsNotConfirmed) {
  options.most_ahead = 100;
  for (std::int64_t const time : {-5000, 1'000'000, 50}) EXPECT_EQ(add(time), Windowed::refused) << time;
  for (std::int64_t const time : {40, 55, 141}) EXPECT_EQ(add(time), Windowed::placed) << time;
  windows().flush();
  EXPECT_THAT(begins(), ElementsAre(40, 50, 140));
}

TEST_F(WindowsOfTen, TakeTimesNearTheEndsOfTheirRange) {
  EXPECT_EQ(add(std::numeric_limits<std::int64_t>::min()), Windowed::placed);
  EXPECT_EQ(add(std::numeric_limits<std::int64_t>::max() - 10), Windowed::placed);
  EXPECT_EQ(add(0), Windowed::late);
  windows().flush();
  EXPECT_EQ(sent.size(), 2U);
}

}  // namespace
}  // namespace penstock
