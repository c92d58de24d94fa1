// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <latch>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "penstock/observe.hpp"

namespace penstock {
namespace {

std::string const& name_of(Recording const& seen, RecordedSpan const& span) {
  return seen.span_names.at(span.name);
}

std::multiset<std::string> names_in(Recording const& seen) {
  std::multiset<std::string> names;
  for (RecordedSpan const& span : seen.spans) names.insert(name_of(seen, span));
  return names;
}

/// A recorder, and what passes it on.
struct ASpan : testing::Test {
  Recorder recorder{{.capacity = 1 << 10}};
  Watching watching{.recorder = &recorder};
};

TEST_F(ASpan, IsRecordedWithItsNameItsTileAndTheRowOfItsThread) {
  auto const before = Clock::now();
  { Span const span(watching, "decode", 7); }
  auto const after = Clock::now();
  Recording const seen = recorder.take();
  ASSERT_EQ(seen.spans.size(), 1u);
  RecordedSpan const& span = seen.spans.front();
  EXPECT_EQ(name_of(seen, span), "decode");
  EXPECT_EQ(span.tile, 7u);
  EXPECT_EQ(seen.rows.at(span.row).kind, RecordRow::Kind::thread);
  EXPECT_GE(span.begin, recorder.since_start(before));
  EXPECT_LE(span.begin, span.end);
  EXPECT_LE(span.end, recorder.since_start(after));
  EXPECT_TRUE(seen.passages.empty());
}

TEST_F(ASpan, LiesWithinTheOneThatWasOpen) {
  {
    Span const outer(watching, "outer");
    Span const inner(watching, "inner");
  }
  Recording const seen = recorder.take();
  ASSERT_EQ(seen.spans.size(), 2u);
  RecordedSpan const &inner = seen.spans[0], &outer = seen.spans[1];
  EXPECT_EQ(name_of(seen, inner), "inner");
  EXPECT_EQ(inner.row, outer.row);
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_LE(inner.end, outer.end);
}

TEST_F(ASpan, EndsWhereAnExceptionLeavesItsScope) {
  try {
    Span const span(watching, "decode");
    throw std::runtime_error("not this one");
  } catch (std::runtime_error const&) {
    Span const behind(watching, "behind");
  }
  Recording const seen = recorder.take();
  ASSERT_EQ(names_in(seen), (std::multiset<std::string>{"behind", "decode"}));
  EXPECT_EQ(name_of(seen, seen.spans.front()), "decode");
  EXPECT_LE(seen.spans[0].end, seen.spans[1].begin);
}

TEST_F(ASpan, KeepsANameThatDoesNotLiveAsLong) {
  {
    std::optional<std::string> name("made for this one alone, and not short");
    Span const span(watching, *name);
    name->assign(name->size(), '?');
    name.reset();
  }
  EXPECT_EQ(names_in(recorder.take()), (std::multiset<std::string>{"made for this one alone, and not short"}));
}

TEST_F(ASpan, TakesAnyName) {
  std::vector<std::string> const names{
      "",         std::string(100'000, 'x'), "\"quoted\" \\", "two\nlines\t", "\xc3\xa9t\xc3\xa9 \xe2\x86\x92",
      "\xff\xfe", std::string("a\0b", 3)};
  for (std::string const& name : names) {
    Span const span(watching, name);
  }
  EXPECT_EQ(names_in(recorder.take()), (std::multiset<std::string>(names.begin(), names.end())));
}

/// Nothing of the name may be read, as long as nothing records.
TEST(ASpanThatNothingRecords, DoesNotReadItsName) {
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const forbidden = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(forbidden, MAP_FAILED);
  Watching const nothing;
  { Span const span(nothing, std::string_view(static_cast<char const*>(forbidden), 100), 7); }
  munmap(forbidden, page);
}

TEST(ASpanOfATile, IsRecordedIfTheTileIs) {
  Recorder recorder({.capacity = 1 << 10, .every = 4, .spans = 200});
  Watching const watching{.recorder = &recorder};
  for (std::uint64_t tile = 0; tile < 400; ++tile) {
    Span const of_tile(watching, "of a tile", tile);
    if (tile < 10) {
      Span const of_none(watching, "of none");
    }
  }
  Recording const seen = recorder.take();
  std::size_t of_tiles = 0, of_none = 0, wanted = 0;
  for (std::uint64_t tile = 0; tile < 400; ++tile) wanted += recorder.wants(tile) ? 1U : 0U;
  for (RecordedSpan const& span : seen.spans) {
    ++(span.tile ? of_tiles : of_none);
    EXPECT_TRUE(!span.tile || recorder.wants(*span.tile));
  }
  EXPECT_LT(wanted, 400u);
  EXPECT_EQ(of_tiles, wanted);
  EXPECT_EQ(of_none, 10u);
  EXPECT_EQ(seen.spans_missed, 0u) << "the others take no room";
}

/// Notes two spans for each tile that is wanted when it comes.
void two_for_each(Recorder& recorder, std::uint64_t tiles) {
  Watching const watching{.recorder = &recorder};
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    Span const outer(watching, "outer", tile);
    Span const inner(watching, "inner", tile);
  }
}

TEST(SpansOfALongRun, AreOfFewerTilesIfTheRecorderMayThinOut) {
  constexpr std::uint64_t tiles = 16'000;
  Recorder recorder({.capacity = 16, .thin_out = true, .spans = 1024});
  two_for_each(recorder, tiles);
  Recorder const wanting({.capacity = 16, .every = 32});
  Recording const seen = recorder.take();
  EXPECT_EQ(seen.every, 32u);
  EXPECT_EQ(seen.spans_missed, 0u);
  std::multiset<std::uint64_t> kept, wanted;
  for (RecordedSpan const& span : seen.spans) kept.insert(span.tile.value());
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    if (wanting.wants(tile)) wanted.insert({tile, tile});
  }
  EXPECT_EQ(kept, wanted);
}

TEST(SpansOfALongRun, AreCountedIfThereIsNoRoom) {
  Recorder recorder({.capacity = 16, .spans = 100});
  two_for_each(recorder, 60);
  Recording const seen = recorder.take();
  EXPECT_EQ(seen.spans.size(), 100u);
  EXPECT_EQ(seen.spans_missed, 20u);
  EXPECT_EQ(seen.missed, 0u) << "passages have room of their own";
  two_for_each(recorder, 1);
  EXPECT_EQ(recorder.take().spans_missed, 0u);
}

/// Where spans are of no tile, there would be no more room with fewer tiles.
TEST(SpansOfALongRun, LeaveTheTilesAloneIfMostAreOfNone) {
  Recorder recorder({.capacity = 16, .thin_out = true, .spans = 100});
  Watching const watching{.recorder = &recorder};
  for (std::uint64_t tile = 0; tile < 200; ++tile) {
    Span const span(watching, "of none");
    if (tile % 4 == 0) {
      Span const of_tile(watching, "of a tile", tile);
    }
  }
  Recording const seen = recorder.take();
  EXPECT_EQ(seen.every, 1u);
  EXPECT_EQ(seen.spans.size(), 100u);
  EXPECT_EQ(seen.spans_missed, 150u);
}

TEST_F(ASpan, KeepsItsNameWhereTheRecordingIsTakenMeanwhile) {
  { Span const first(watching, "first"); }
  {
    Span const open(watching, "open");
    EXPECT_EQ(names_in(recorder.take()), (std::multiset<std::string>{"first"}));
    Span const within(watching, "within");
  }
  EXPECT_EQ(names_in(recorder.take()), (std::multiset<std::string>{"open", "within"}));
}

/// For the thread sanitizer, too.
TEST_F(ASpan, IsOneOfManyThreadsAtOnce) {
  constexpr std::uint64_t threads = 4, each = 2'000;
  std::vector<std::thread> all;
  std::latch all_there(threads);
  for (std::uint64_t t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      std::string const own = "of thread " + std::to_string(t);
      all_there.arrive_and_wait();
      for (std::uint64_t i = 0; i < each; ++i) {
        Span const outer(watching, own, t * each + i);
        Span const inner(watching, "of all", t * each + i);
      }
    });
  }
  for (auto& thread : all) thread.join();
  Recording const seen = recorder.take();
  std::map<std::string, std::set<std::uint64_t>> tiles;
  std::map<std::string, std::set<std::uint32_t>> rows;
  for (RecordedSpan const& span : seen.spans) {
    tiles[name_of(seen, span)].insert(span.tile.value());
    rows[name_of(seen, span)].insert(span.row);
  }
  EXPECT_EQ(seen.spans.size(), 2 * threads * each);
  EXPECT_EQ(tiles.at("of all").size(), threads * each);
  for (std::uint64_t t = 0; t < threads; ++t) {
    std::string const own = "of thread " + std::to_string(t);
    EXPECT_EQ(tiles.at(own).size(), each);
    EXPECT_EQ(rows.at(own).size(), 1u);
  }
  EXPECT_EQ(rows.at("of all").size(), threads);
}

/// Keeps what it is told.
struct ToldRanges final : Ranges {
  std::vector<std::pair<std::string, std::optional<std::uint64_t>>> told;
  void begin(Step /*step*/, std::optional<std::uint64_t> /*tile*/) noexcept override {}
  void end(Step /*step*/) noexcept override {}
  void begin_span(std::string_view name, std::optional<std::uint64_t> tile) noexcept override {
    told.emplace_back(name, tile);
  }
  void end_span() noexcept override { told.emplace_back("end", std::nullopt); }
};

TEST(ASpanThatRangesShow, BeginsAndEndsInThemWithoutARecorder) {
  ToldRanges ranges;
  Watching const watching{.ranges = &ranges};
  {
    Span const outer(watching, "outer", 3);
    Span const inner(watching, "inner");
  }
  using Told = std::pair<std::string, std::optional<std::uint64_t>>;
  EXPECT_EQ(ranges.told, (std::vector<Told>{{"outer", 3}, {"inner", {}}, {"end", {}}, {"end", {}}}));
}

TEST(ASpanThatRangesShow, IsShownThoughTheRecorderDoesNotWantItsTile) {
  Recorder recorder({.capacity = 16, .every = std::uint64_t{1} << 40});
  ToldRanges ranges;
  Watching const watching{.recorder = &recorder, .ranges = &ranges};
  { Span const span(watching, "decode", 1'000); }
  EXPECT_TRUE(recorder.take().spans.empty());
  EXPECT_EQ(ranges.told.size(), 2u);
}

}  // namespace
}  // namespace penstock
