// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/repeated_source.hpp"

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// Notes what it is asked. With each tile that it fills it leaves out some records.
class Noted final : public Source {
 public:
  Noted(std::uint64_t tiles, std::vector<std::uint64_t>& filled, std::uint64_t each)
      : tiles_(tiles), filled_(filled), each_(each) {}
  bool next(Tile& tile) override { return tile.sequence < tiles_; }
  std::size_t fill(Tile& tile) override {
    filled_.push_back(tile.sequence);
    left_out_ += each_;
    return tile.input().size();
  }
  std::vector<LeftOut> left_out() const override {
    if (left_out_ == 0) return {};
    return {{.unit = "record", .reason = "too long for a tile", .count = left_out_}};
  }
  std::vector<std::string> remarks() const override {
    if (left_out_ == 0) return {};
    return {std::to_string(left_out_) + " were too long."};
  }

 private:
  std::uint64_t const tiles_;
  std::vector<std::uint64_t>& filled_;
  std::uint64_t const each_;
  std::uint64_t left_out_ = 0;
};

/// An input of so many tiles, of which two are out at once at most.
struct ARepeatedInput : testing::Test {
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes({.input_bytes = 8}, 2));
  Pool pool{slab, {.input_bytes = 8}, 2};
  std::uint64_t tiles = 3;
  std::uint64_t left_out_of_each = 0;
  unsigned made = 0;
  std::vector<std::uint64_t> filled;
  RepeatedSource::Make const make = [this](Pool const&) {
    ++made;
    return std::make_unique<Noted>(tiles, filled, left_out_of_each);
  };

  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0U); }
  static bool next(RepeatedSource& source, Loan& tile, std::uint64_t sequence) {
    tile->sequence = sequence;
    return source.next(*tile);
  }
};

/// Seen to fail with no remarks.
TEST_F(ARepeatedInput, SaysWhatOnePassLeftOut) {
  left_out_of_each = 5;
  RepeatedSource source(make, pool);
  EXPECT_TRUE(source.left_out().empty());
  EXPECT_TRUE(source.remarks().empty());
  // The first pass is over only when the other tile is of a later one, too: its second tile is filled last.
  std::array tiles_out{pool.borrow(), pool.borrow()};
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence)
    ASSERT_TRUE(next(source, tiles_out[sequence % 2], sequence));
  source.fill(*tiles_out[0]);
  ASSERT_TRUE(next(source, tiles_out[0], 3));
  source.fill(*tiles_out[0]);
  ASSERT_EQ(source.left_out().size(), 1U);
  source.fill(*tiles_out[1]);
  EXPECT_EQ(source.left_out().front().count, 5U) << "of a pass that is not over";
  EXPECT_EQ(source.remarks(), std::vector<std::string>{"5 were too long."});
  ASSERT_TRUE(next(source, tiles_out[1], 4));
  EXPECT_EQ(source.left_out().front().count, 10U) << "of the first pass";
  EXPECT_EQ(source.remarks(), std::vector<std::string>{"10 were too long."});
  EXPECT_EQ(made, 2U);
}

TEST_F(ARepeatedInput, BeginsAgainWhereItEnds) {
  RepeatedSource source(make, pool);
  Loan tile = pool.borrow();
  for (std::uint64_t sequence = 0; sequence < 7; ++sequence) {
    ASSERT_TRUE(next(source, tile, sequence));
    EXPECT_EQ(source.fill(*tile), 8U);
    EXPECT_EQ(tile->sequence, sequence) << "which is the pipeline's own";
    EXPECT_EQ(source.place_of(sequence), sequence % 3);
  }
  EXPECT_EQ(filled, (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(made, 3U);
}

/// Seen to fail if a tile is filled by the source that is the latest.
TEST_F(ARepeatedInput, FillsEachTileAsOneOfItsPass) {
  RepeatedSource source(make, pool);
  Loan late = pool.borrow(), other = pool.borrow();
  ASSERT_TRUE(next(source, late, 0));
  for (std::uint64_t sequence = 1; sequence < 5; ++sequence) ASSERT_TRUE(next(source, other, sequence));
  source.fill(*late);
  source.fill(*other);
  EXPECT_EQ(filled, (std::vector<std::uint64_t>{0, 1}));
  for (std::uint64_t sequence = 0; sequence < 5; ++sequence) EXPECT_EQ(source.place_of(sequence), sequence % 3);
}

/// Seen to fail with a source that is made again and again.
TEST_F(ARepeatedInput, EndsIfThereIsNothingInIt) {
  tiles = 0;
  RepeatedSource source(make, pool);
  Loan tile = pool.borrow();
  EXPECT_FALSE(next(source, tile, 0));
  EXPECT_EQ(made, 1U);
}

TEST_F(ARepeatedInput, RefusesAJobThatMakesNoSource) {
  EXPECT_THROW(RepeatedSource([](Pool const&) { return nullptr; }, pool), Error);
}

/// The places that it was shown, and how many tiles at once.
struct Shown final : Stage {
  explicit Shown(StageContext const&) {}
  std::size_t run(DeviceTile const& tile, StreamRef) override { return places.push_back(tile.sequence), 0; }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t>, StreamRef) override {
    for (DeviceTile const& tile : tiles) batched.push_back(tile.sequence);
    return true;
  }
  std::vector<std::uint64_t> places, batched;
};

/// Seen to fail with a stage that is shown the whole input's places, and with one that is shown two passes at once.
TEST_F(ARepeatedInput, IsSeenByStagesPassByPass) {
  RepeatedSource source(make, pool);
  Loan tile = pool.borrow();
  for (std::uint64_t sequence = 0; sequence < 7; ++sequence) ASSERT_TRUE(next(source, tile, sequence));
  cpu::CpuDevice device({.compute_threads = 1});
  Stream const stream = device.make_stream();
  Shown* merged = nullptr;
  Stages const stages = source.seen_by(stage_per_lane<Shown>([&](Shown& one) { merged = &one; }));
  auto const stage = stages.make({device, stream, pool.shape(), 0});
  stages.merge(*stage);
  ASSERT_NE(merged, nullptr);
  auto const numbered = [](std::uint64_t sequence) {
    DeviceTile one{};
    one.sequence = sequence;
    return one;
  };
  stage->run(numbered(2), stream);
  stage->run(numbered(4), stream);
  EXPECT_EQ(merged->places, (std::vector<std::uint64_t>{2, 1}));
  std::vector<std::size_t> produced(2);
  EXPECT_TRUE(stage->run_batch(std::vector{numbered(4), numbered(5)}, produced, stream));
  EXPECT_EQ(merged->batched, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_FALSE(stage->run_batch(std::vector{numbered(5), numbered(6)}, produced, stream));
}

}  // namespace
}  // namespace penstock::measure
