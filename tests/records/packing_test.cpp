// SPDX-License-Identifier: Apache-2.0
#include "records/packing.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "support/inline_stream.hpp"
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A pool of one tile, from which a pack is made. The tile comes home.
struct OneTile {
  TileShape shape;
  std::vector<std::byte> slab;
  Pool pool;
  Pack pack;

  explicit OneTile(TileShape of) : shape(of), slab(Pool::slab_bytes(of, 1)), pool(slab, of, 1) {
    pack.open(pool.borrow());
  }
  ~OneTile() {
    pack.loan.give_back();
    EXPECT_EQ(pool.on_loan(), 0u);
  }
  bool add(Packing const& packing, std::size_t bytes) {
    if (!packing.has_room(pack, bytes)) return false;
    std::ranges::fill(packing.room(pack, bytes), static_cast<std::byte>(pack.count() + 1));
    packing.expect_more(pack, 1);
    packing.add(pack, bytes, {});
    return true;
  }
  std::span<std::byte const> result(Packing const& packing, std::uint32_t number) const {
    return packing.completions(pack, *pack.loan, Outcome::done, nullptr).output(number);
  }
  /// Returns the tile as the device would see it, had it memory of its own.
  DeviceTile tile() const { return {.input = pack.loan->input(), .output = pack.loan->output(), .sequence = 7}; }
};

/// Calls `look` with what only kernels may read, here in the memory of a tile.
void in_a_kernel(CpuKernel const& look) {
  support::InlineStream stream;
  StreamRef(stream).launch(1, look);
}

std::string refusal(TileShape shape, RecordOptions const& options) {
  try {
    Packing const packing(shape, options);
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

TEST(Packing, PutsRecordsOfOneSizeBehindEachOtherWithoutATable) {
  OneTile one({.input_bytes = 100, .output_bytes = 100});
  Packing const packing(one.shape, {.record_bytes = 30});
  EXPECT_EQ(packing.most_bytes(), 30u);
  EXPECT_TRUE(one.add(packing, 30) && one.add(packing, 30) && one.add(packing, 30));
  EXPECT_FALSE(one.add(packing, 30));
  packing.close(one.pack);
  EXPECT_EQ(one.pack.loan->filled, 90u);
  DeviceRecords const records = packing.on_device(one.pack, one.tile());
  EXPECT_EQ(records.sequence, 7u);
  ASSERT_EQ(records.inputs.size(), 3u);
  in_a_kernel([&](KernelBlock block) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(records.inputs.at(block, i), (RecordPlace{30 * i, 30}));
      EXPECT_EQ(records.outputs.at(block, i), records.inputs.at(block, i));
      EXPECT_EQ(records.input.in(block)[records.inputs.at(block, i).offset], static_cast<std::byte>(i + 1));
      EXPECT_EQ(one.result(packing, i).data(), &one.pack.loan->output()[std::size_t{30} * i]);
    }
  });
  EXPECT_EQ(packing.produced(one.pack), 90u);
  EXPECT_EQ(packing.result_bytes(one.pack), 90u);
}

/// One record of 32 bytes, one of 30, two of 8: with their tables these are 40 bytes each. Seen to fail if only how
/// many there are makes a difference.
TEST(Packing, TellsPacksApartThatFillTheirTilesAlike) {
  std::vector<std::uint64_t> variants;
  for (std::vector<std::size_t> const& sizes : {std::vector<std::size_t>{32}, {30}, {8, 8}}) {
    OneTile one({.input_bytes = 40, .output_bytes = 40, .in_place = true});
    Packing const packing(one.shape, {});
    for (std::size_t const size : sizes) ASSERT_TRUE(one.add(packing, size));
    packing.close(one.pack);
    EXPECT_EQ(one.pack.loan->filled, 40u);
    variants.push_back(Packing::variant(one.pack));
  }
  EXPECT_NE(variants[0], variants[1]);
  EXPECT_NE(variants[0], variants[2]);
  EXPECT_NE(variants[1], variants[2]);
  OneTile alike({.input_bytes = 64, .output_bytes = 64, .in_place = true});
  Packing const packing(alike.shape, {});
  EXPECT_TRUE(alike.add(packing, 1) && alike.add(packing, 16));
  OneTile other(alike.shape);
  EXPECT_TRUE(other.add(packing, 15) && other.add(packing, 16));
  EXPECT_EQ(Packing::variant(alike.pack), Packing::variant(other.pack)) << "the table on the device has the rest";
}

TEST(Packing, PutsATableBehindRecordsOfAnySize) {
  OneTile one({.input_bytes = 256, .output_bytes = 256, .in_place = true});
  Packing const packing(one.shape, {.alignment = 32});
  std::vector<std::size_t> const sizes{5, 0, 33, 1};
  for (std::size_t const size : sizes) ASSERT_TRUE(one.add(packing, size));
  packing.close(one.pack);
  DeviceRecords const records = packing.on_device(one.pack, one.tile());
  ASSERT_EQ(records.inputs.size(), sizes.size());
  std::vector<std::uint32_t> const offsets{0, 32, 32, 96};
  in_a_kernel([&](KernelBlock block) {
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
      RecordPlace const place = records.inputs.at(block, i);
      EXPECT_EQ(place, (RecordPlace{offsets[i], static_cast<std::uint32_t>(sizes[i])}));
      auto const bytes = records.input.in(block).subspan(place.offset, place.bytes);
      EXPECT_TRUE(std::ranges::all_of(bytes, [&](std::byte byte) { return byte == static_cast<std::byte>(i + 1); }));
      EXPECT_EQ(one.result(packing, i).size(), sizes[i]);
    }
  });
  EXPECT_EQ(one.pack.loan->filled, 100u + 4 * sizeof(RecordPlace)) << "97 bytes, the gap before the table, the table";
  EXPECT_EQ(packing.produced(one.pack), 97u) << "no table comes back";
  EXPECT_EQ(packing.result_bytes(one.pack), 39u) << "nor do gaps count";
}

TEST(Packing, TakesRecordsFromWhereTheyLieInTheirRoom) {
  OneTile one({.input_bytes = 256, .output_bytes = 256, .in_place = true});
  Packing const packing(one.shape, {.alignment = 4});
  ASSERT_TRUE(one.add(packing, 5));
  ASSERT_TRUE(packing.has_room(one.pack, 100, 3));
  EXPECT_FALSE(packing.has_room(one.pack, 256 - 8 - 8, 1));
  std::vector<RecordPlace> const places{{4, 7}, {20, 0}, {60, 40}};
  EXPECT_EQ(packing.expect_places(places, 100), 100u);
  EXPECT_THROW(packing.expect_places(places, 99), Error) << "the last does not fit";
  EXPECT_THROW(packing.expect_places(std::vector<RecordPlace>{{6, 1}}, 100), Error) << "not at a multiple of 4";
  packing.expect_more(one.pack, places.size());
  packing.add(one.pack, places, 100, 7);
  packing.close(one.pack);
  DeviceRecords const records = packing.on_device(one.pack, one.tile());
  ASSERT_EQ(records.inputs.size(), 4u);
  std::vector<RecordPlace> const lie{{0, 5}, {12, 7}, {28, 0}, {68, 40}};
  in_a_kernel([&](KernelBlock block) {
    for (std::uint32_t i = 0; i < lie.size(); ++i) EXPECT_EQ(records.inputs.at(block, i), lie[i]);
  });
  auto const all = packing.completions(one.pack, *one.pack.loan, Outcome::done, nullptr);
  EXPECT_EQ(all.tag(1), 7u);
  EXPECT_EQ(all.tag(3), 9u);
  EXPECT_EQ(all.output(3).data(), &one.pack.loan->output()[68]);
  EXPECT_EQ(packing.result_bytes(one.pack), 52u);
  EXPECT_TRUE(packing.completions(one.pack, *one.pack.loan, Outcome::cancelled, nullptr).output(3).empty());
}

TEST(Packing, ExpectsRecordsOfOneSizeBehindEachOtherInTheirRoom) {
  OneTile one({.input_bytes = 100, .output_bytes = 100});
  Packing const packing(one.shape, {.record_bytes = 10});
  EXPECT_TRUE(packing.has_room(one.pack, 100, 10));
  EXPECT_NO_THROW(packing.expect_room(100, 10));
  EXPECT_THROW(packing.expect_room(101, 10), Error);
  EXPECT_THROW(packing.expect_room(10, 0), Error);
  Packing const any_size(one.shape, {});
  EXPECT_NO_THROW(any_size.expect_room(80, 2));
  for (std::size_t const bytes : {std::size_t{101}, SIZE_MAX - 100, SIZE_MAX - 7, SIZE_MAX}) {
    EXPECT_THROW(any_size.expect_room(bytes, 2), Error) << bytes;
  }
  EXPECT_EQ(packing.expect_places(std::vector<RecordPlace>{{0, 10}, {10, 10}}, 20), 20u);
  EXPECT_THROW(packing.expect_places(std::vector<RecordPlace>{{0, 10}, {20, 10}}, 30), Error) << "a gap";
  EXPECT_THROW(packing.expect_places(std::vector<RecordPlace>{{0, 9}}, 10), Error) << "another size";
}

TEST(Packing, FillsATileToItsLastByteAndNoFurther) {
  for (std::size_t const room : {64U, 65U, 71U, 72U, 73U, 100U}) {
    OneTile one({.input_bytes = room, .output_bytes = room, .in_place = true});
    Packing const packing(one.shape, {.alignment = 1});
    ASSERT_TRUE(one.add(packing, packing.most_bytes())) << room;
    packing.close(one.pack);
    EXPECT_LE(one.pack.loan->filled, room);
    EXPECT_FALSE(one.add(packing, 0)) << room;
    EXPECT_THROW(packing.expect_size(packing.most_bytes() + 1), Error);
    one.pack.open(std::move(one.pack.loan));
    std::size_t count = 0;
    while (one.add(packing, 3)) ++count;
    packing.close(one.pack);
    EXPECT_LE(one.pack.loan->filled, room);
    EXPECT_GT(one.pack.loan->filled + 3 + sizeof(RecordPlace) + alignof(RecordPlace), room) << count << " of " << room;
  }
}

TEST(Packing, TakesAsManyRecordsAsATileHasBytesOrRoomForResults) {
  Packing const packing({.input_bytes = 100, .output_bytes = 100}, {.record_bytes = 1});
  EXPECT_EQ(packing.most_bytes(), 1u);
  EXPECT_NO_THROW(packing.expect_room(100, 100));
  EXPECT_THROW(packing.expect_room(101, 101), Error);
  Packing const results({.input_bytes = 1000, .output_bytes = 25}, {.output_bytes = 8});
  EXPECT_NO_THROW(results.expect_room(30, 3));
  EXPECT_THROW(results.expect_room(40, 4), Error);
}

TEST(Packing, CopiesManyRecordsToWhereTheyWouldLieOneByOne) {
  std::vector<std::byte> const bytes(33, std::byte{7});
  std::vector<std::span<std::byte const>> records;
  for (std::size_t const size : {5U, 0U, 33U, 1U}) records.push_back(std::span(bytes).first(size));
  OneTile one({.input_bytes = 256, .output_bytes = 256, .in_place = true});
  Packing const packing(one.shape, {.alignment = 32});
  EXPECT_EQ(packing.copy(one.pack, records, 0), records.size());
  std::vector<RecordPlace> const lie{{0, 5}, {32, 0}, {32, 33}, {96, 1}};
  EXPECT_EQ(one.pack.places, lie);
  EXPECT_EQ(packing.result_bytes(one.pack), 39u);
}

/// What adds a record must not allocate.
TEST(Packing, ReservesMemoryForAllThatItNotesOfRecords) {
  TileShape const shape{.input_bytes = 8192, .output_bytes = 8192};
  for (std::size_t const each : {std::size_t{0}, std::size_t{4}}) {
    OneTile one(shape);
    Packing(shape, {.record_bytes = each}).expect_more(one.pack, 1000);
    EXPECT_GE(one.pack.entries.capacity(), 1000u);
    EXPECT_EQ(one.pack.places.capacity() >= 1000, each == 0) << "places are those of records of any size";
  }
}

TEST(Packing, GivesEachResultItsOwnRoom) {
  OneTile one({.input_bytes = 1000, .output_bytes = 25});
  Packing const packing(one.shape, {.output_bytes = 8});
  EXPECT_TRUE(one.add(packing, 100) && one.add(packing, 7) && one.add(packing, 50));
  EXPECT_FALSE(one.add(packing, 1)) << "there is room for a fourth record, but not for its result";
  packing.close(one.pack);
  DeviceRecords const records = packing.on_device(one.pack, one.tile());
  in_a_kernel([&](KernelBlock block) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(records.outputs.at(block, i), (RecordPlace{8 * i, 8}));
      EXPECT_EQ(one.result(packing, i).data(), &one.pack.loan->output()[std::size_t{8} * i]);
    }
  });
  EXPECT_EQ(records.output.size(), 24u);
  EXPECT_EQ(packing.result_bytes(one.pack), 24u);
}

TEST(Packing, BringsNothingBackIfNothingComesOfRecords) {
  OneTile one({.input_bytes = 1000});
  Packing const packing(one.shape, {.record_bytes = 10, .output_bytes = 0});
  ASSERT_TRUE(one.add(packing, 10));
  EXPECT_EQ(packing.produced(one.pack), 0u);
  EXPECT_TRUE(one.result(packing, 0).empty());
}

TEST(Packing, NamesTheRemedyForWhatCannotBePacked) {
  TileShape const in_place{.input_bytes = 64, .output_bytes = 64, .in_place = true};
  EXPECT_NE(refusal(in_place, {.record_bytes = 65}).find("larger tiles"), std::string::npos);
  EXPECT_NE(refusal({.input_bytes = 4, .output_bytes = 4}, {}).find("larger tiles"), std::string::npos);
  EXPECT_NE(refusal({.input_bytes = 64, .output_bytes = 8}, {.output_bytes = 9}).find("larger tiles"),
            std::string::npos);
  EXPECT_NE(refusal({.input_bytes = 64, .output_bytes = 32}, {}).find("output_bytes"), std::string::npos);
  EXPECT_NE(refusal(in_place, {.output_bytes = 8}).find("not worked on in place"), std::string::npos);
  for (std::size_t const alignment : {0U, 3U, 512U}) {
    EXPECT_NE(refusal(in_place, {.alignment = alignment}).find("power of two"), std::string::npos) << alignment;
  }
  EXPECT_NE(refusal({.input_bytes = std::size_t{1} << 32, .output_bytes = std::size_t{1} << 32}, {}).find("smaller"),
            std::string::npos);
  EXPECT_NE(refusal(in_place, {.linger = std::chrono::microseconds(-1)}).find("linger"), std::string::npos);
  EXPECT_EQ(refusal(in_place, {.linger = std::chrono::microseconds::max()}), "");
  Packing const packing(in_place, {.record_bytes = 16});
  for (std::size_t const bytes : {0U, 15U, 17U}) {
    EXPECT_THROW(packing.expect_size(bytes), Error) << bytes;
  }
  EXPECT_NO_THROW(packing.expect_size(16));
}

TEST(Packing, SaysToTheByteHowLargeARecordMayBe) {
  Packing const packing({.input_bytes = 4096, .output_bytes = 4096, .in_place = true}, {});
  try {
    packing.expect_size(4096);
    FAIL() << "a tile has a table as well";
  } catch (Error const& error) {
    EXPECT_EQ(std::string(error.what()),
              "A record of 4096 bytes is larger than the " + std::to_string(packing.most_bytes()) +
                  " that a tile holds: give the pipeline larger tiles, or write it in parts.");
  }
}

}  // namespace
}  // namespace penstock
