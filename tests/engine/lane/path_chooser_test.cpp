// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/path_chooser.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/machine/slab.hpp"

namespace penstock {
namespace {

/// Four pinned tiles, each with room for more than what a lone one may have mapped; of those that are not alone 4 KiB
/// may be, up and down. All must come home.
struct PathsOfALane : testing::Test {
  static constexpr std::size_t bound = 4096, few = bound / 4;
  static constexpr std::size_t most_lone = most_lone_mapped_bytes / 2;  ///< Bytes up, and as many down.
  static constexpr std::size_t full = most_lone + 1024;
  static constexpr TileShape shape{.input_bytes = full, .output_bytes = full};
  cpu::CpuDevice device;
  Slab slab{Pool::slab_bytes(shape, 4), std::nullopt, 1};
  Pinned pinned = device.pin(slab.bytes());
  Pool pool{slab.bytes(), shape, 4};
  Stream stream = device.make_stream();
  PathChooser paths = chooser(Transport::automatic);
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home"; }

  PathChooser chooser(Transport transport, std::size_t most = bound) {
    return PathChooser(device, transport, most, shape, 4);
  }
  std::unique_ptr<Stage> stage_with(Promises promises) {
    return on_device([](DeviceTile const&, StreamRef) {}, promises).make({device, stream, shape});
  }
  std::unique_ptr<Stage> const reads_once = stage_with({.reads_once = true});

  /// The path of so many tiles of `filled` bytes each, if `put` were put before and `retired` are through.
  TransferPath choose(std::size_t tiles, std::size_t filled, std::uint64_t put, std::uint64_t retired) {
    return choose_of(paths, *reads_once, tiles, filled, put, retired);
  }
  TransferPath choose_of(PathChooser& of, Stage const& stage, std::size_t tiles, std::size_t filled, std::uint64_t put,
                         std::uint64_t retired) {
    std::array<Loan, 4> loans;
    for (std::size_t i = 0; i < tiles; ++i) {
      loans[i] = pool.borrow();
      loans[i]->filled = filled;
    }
    return of.choose(std::span(loans).first(tiles), stage, put, retired);
  }
};

TEST_F(PathsOfALane, AreMappedAsLongAsNoMoreThanTheBoundIs) {
  EXPECT_EQ(choose(2, few, 0, 0), TransferPath::mapped);
  paths.begin_mapped(bound);
  EXPECT_EQ(choose(1, few, 2, 0), TransferPath::copied);
  paths.end_mapped(bound);
  EXPECT_EQ(choose(1, few, 3, 3), TransferPath::mapped);
}

/// Seen to fail if only a device without tiles in flight maps.
TEST_F(PathsOfALane, MapBehindMappedTilesAndNeverBehindCopiedOnes) {
  EXPECT_EQ(choose(1, few, 0, 0), TransferPath::mapped);
  EXPECT_EQ(choose(1, few, 1, 0), TransferPath::mapped) << "behind a mapped one";
  EXPECT_EQ(choose(3, few, 2, 0), TransferPath::copied) << "too many bytes";
  EXPECT_EQ(choose(1, few, 5, 4), TransferPath::copied) << "the last of these is in flight";
  EXPECT_EQ(choose(1, few, 6, 6), TransferPath::mapped);
}

/// Seen to fail if what a lone tile may have is another number of bytes.
TEST_F(PathsOfALane, AreMappedForALoneTileUpToABoundOfItsOwn) {
  EXPECT_EQ(choose(1, bound, 0, 0), TransferPath::mapped);
  EXPECT_EQ(choose(1, most_lone, 1, 1), TransferPath::mapped);
  EXPECT_EQ(choose(1, most_lone + 1, 2, 2), TransferPath::copied);
  EXPECT_EQ(choose(1, most_lone, 3, 3), TransferPath::mapped);
}

/// A tile without input may produce as much as its output part has.
TEST_F(PathsOfALane, CountWhatALoneTileWithoutInputMayBringBack) {
  EXPECT_EQ(choose(1, 0, 0, 0), TransferPath::mapped);
  EXPECT_EQ(choose(1, 0, 1, 0), TransferPath::copied) << "that is too much for one that is not alone";
}

/// Seen to fail if whatever finds nothing in flight counts as a lone tile.
TEST_F(PathsOfALane, KeepToTheBoundForABatchOfSeveralThoughItIsAlone) {
  EXPECT_EQ(choose(2, bound / 4, 0, 0), TransferPath::mapped);
  EXPECT_EQ(choose(2, bound / 4 + 1, 2, 2), TransferPath::copied);
}

/// Seen to fail if each single tile counts as a lone one.
TEST_F(PathsOfALane, KeepToTheBoundForATileThatFindsAnother) {
  EXPECT_EQ(choose(1, few, 0, 0), TransferPath::mapped);
  EXPECT_EQ(choose(1, bound, 1, 0), TransferPath::copied) << "behind a mapped one";
  EXPECT_EQ(choose(1, most_lone, 2, 1), TransferPath::copied) << "behind a copied one";
  EXPECT_EQ(choose(1, most_lone, 3, 3), TransferPath::mapped) << "these are through";
}

/// Seen to fail if a lone tile's bytes do not count for those behind it.
TEST_F(PathsOfALane, AreCopiedBehindALoneTileThatHasMoreThanTheBound) {
  EXPECT_EQ(choose(1, bound, 0, 0), TransferPath::mapped);
  paths.begin_mapped(2 * bound);
  EXPECT_EQ(choose(1, few, 1, 0), TransferPath::copied);
  paths.end_mapped(2 * bound);
  EXPECT_EQ(choose(1, few, 2, 2), TransferPath::mapped);
}

/// Seen to fail if a lone tile is mapped whatever its stage promises.
TEST_F(PathsOfALane, AreMappedForALoneTileOnlyIfItsStageAllowsIt) {
  auto const nothing = stage_with({}), capturable = stage_with({.capturable = true}),
             elementwise = stage_with({.elementwise = true});
  EXPECT_EQ(choose_of(paths, *nothing, 1, few, 0, 0), TransferPath::copied);
  EXPECT_EQ(choose_of(paths, *capturable, 1, few, 1, 1), TransferPath::copied);
  EXPECT_EQ(choose_of(paths, *elementwise, 1, few, 2, 2), TransferPath::mapped);
}

TEST_F(PathsOfALane, AreMappedForALoneTileOnlyIfTheDeviceSeesIt) {
  pinned = {};
  EXPECT_EQ(choose(1, few, 0, 0), TransferPath::copied);
}

TEST_F(PathsOfALane, AreThoseThatAreAskedForWhateverATileHas) {
  PathChooser copies = chooser(Transport::copies), mapped = chooser(Transport::mapped);
  EXPECT_EQ(choose_of(copies, *reads_once, 1, few, 0, 0), TransferPath::copied);
  EXPECT_EQ(choose_of(copies, *reads_once, 1, few, 1, 1), TransferPath::copied);
  EXPECT_EQ(choose_of(mapped, *reads_once, 2, full, 0, 0), TransferPath::mapped);
  EXPECT_EQ(choose_of(mapped, *reads_once, 2, full, 2, 0), TransferPath::mapped);
}

/// Seen to fail if the bound of a lone tile holds where there is none at all.
TEST_F(PathsOfALane, AreMappedForAllTilesWithoutABound) {
  PathChooser all = chooser(Transport::automatic, unbounded_mapped_bytes);
  EXPECT_EQ(choose_of(all, *reads_once, 1, full, 0, 0), TransferPath::mapped);
  all.begin_mapped(2 * full);
  EXPECT_EQ(choose_of(all, *reads_once, 3, full, 1, 0), TransferPath::mapped);
}

}  // namespace
}  // namespace penstock
