// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/path_chooser.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include <gtest/gtest.h>

#include "penstock/core/pool.hpp"
#include "penstock/cpu/cpu_device.hpp"
#include "penstock/machine/slab.hpp"

namespace penstock {
namespace {

using std::chrono::nanoseconds;

/// Batches of one size, one after the other, of which each way takes what it is said to.
struct LoneBatches : testing::Test {
  static constexpr unsigned until_known = PathTimes::warm_up + 2 * PathTimes::samples;
  PathTimes paths;
  std::map<TransferPath, nanoseconds> times{{TransferPath::mapped, nanoseconds(10)},
                                            {TransferPath::copied, nanoseconds(30)}};

  TransferPath go(std::size_t bytes = 4096) {
    TransferPath const path = paths.choose(bytes);
    paths.took(bytes, path, times.at(path));
    return path;
  }
  std::map<TransferPath, unsigned> go_until_known(std::size_t bytes = 4096) {
    std::map<TransferPath, unsigned> went;
    for (unsigned i = 0; i < until_known; ++i) ++went[go(bytes)];
    return went;
  }
};

TEST_F(LoneBatches, TryEachWayAsOften) {
  auto const went = go_until_known();
  EXPECT_EQ(went.at(TransferPath::mapped), PathTimes::warm_up + PathTimes::samples);
  EXPECT_EQ(went.at(TransferPath::copied), PathTimes::samples);
}

/// Seen to fail, and the next one, if each round goes forth.
TEST_F(LoneBatches, TakeTurnsForthAndBack) {
  for (unsigned i = 0; i < PathTimes::warm_up; ++i) go();
  for (unsigned round = 0; round < PathTimes::samples; ++round) {
    std::array order{TransferPath::mapped, TransferPath::copied};
    if (round % 2 == 1) std::ranges::reverse(order);
    for (TransferPath const path : order) EXPECT_EQ(go(), path) << "in round " << round;
  }
}

TEST_F(LoneBatches, AreNotMisledWhereEveryOtherIsHeavy) {
  times = {{TransferPath::mapped, nanoseconds(10)}, {TransferPath::copied, nanoseconds(9)}};
  for (unsigned i = 0; i < until_known; ++i) {
    TransferPath const path = paths.choose(4096);
    paths.took(4096, path, times.at(path) * (i % 2 == 0 ? 1 : 100));
  }
  EXPECT_EQ(paths.choose(4096), TransferPath::copied);
}

TEST_F(LoneBatches, KeepToTheWayThatTookLeast) {
  for (TransferPath const best : {TransferPath::mapped, TransferPath::copied}) {
    paths = {};
    times = {{TransferPath::mapped, nanoseconds(30)}, {TransferPath::copied, nanoseconds(30)}};
    times[best] = nanoseconds(29);
    go_until_known();
    times[best] = nanoseconds(1000);
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(go(), best);
  }
}

TEST_F(LoneBatches, AreNotMisledByAFewThatWereHeldUp) {
  constexpr unsigned most_held_up = PathTimes::samples / 2 - 1;
  for (unsigned i = 0; i < until_known; ++i) {
    TransferPath const path = paths.choose(4096);
    bool const held_up = path == TransferPath::mapped && i < PathTimes::warm_up + 2 * most_held_up;
    paths.took(4096, path, held_up ? nanoseconds(10'000) : times.at(path));
  }
  EXPECT_EQ(go(), TransferPath::mapped);
}

/// Of two ways, the first of which is `mapped`, what remains if so many of each are joined by the next batch after
/// `gap`, and the others take 20 and 10.
struct LoneBatchesThatAreJoined : LoneBatches {
  TransferPath remains(unsigned mapped_joined, unsigned copied_joined, nanoseconds gap) {
    paths = {};
    std::map<TransferPath, unsigned> joined{{TransferPath::mapped, mapped_joined},
                                            {TransferPath::copied, copied_joined}};
    for (unsigned i = 0; i < until_known; ++i) {
      TransferPath const path = paths.choose(4096);
      if (i >= PathTimes::warm_up && joined[path] > 0) {
        --joined[path];
        paths.took_longer(4096, path, gap);
      } else {
        paths.took(4096, path, path == TransferPath::mapped ? nanoseconds(20) : nanoseconds(10));
      }
    }
    return paths.choose(4096);
  }
  static constexpr unsigned all = PathTimes::samples, half = all / 2;
};

TEST_F(LoneBatchesThatAreJoined, LeaveAWayThatIsKnownToTakeLonger) {
  EXPECT_EQ(remains(0, 0, {}), TransferPath::copied);
  EXPECT_EQ(remains(all, 0, nanoseconds(15)), TransferPath::copied);
  EXPECT_EQ(remains(all, half - 1, nanoseconds(15)), TransferPath::copied);
}

/// Seen to fail if they count as for ever.
TEST_F(LoneBatchesThatAreJoined, LeaveNoWayOfWhichLittleWasSeen) {
  EXPECT_EQ(remains(all, 0, nanoseconds(5)), TransferPath::mapped);
  EXPECT_EQ(remains(half + 1, 0, nanoseconds(5)), TransferPath::mapped);
  EXPECT_EQ(remains(half, 0, nanoseconds(5)), TransferPath::copied);
}

/// Seen to fail if they count as what was seen of them.
TEST_F(LoneBatchesThatAreJoined, TakeNoWayOfWhichLittleWasSeen) {
  EXPECT_EQ(remains(0, all, nanoseconds(5)), TransferPath::mapped);
  EXPECT_EQ(remains(0, half, nanoseconds(5)), TransferPath::mapped);
  EXPECT_EQ(remains(all, all, nanoseconds(5)), TransferPath::mapped);
}

/// Seen to fail if what was not watched to its end counts as failed.
TEST_F(LoneBatches, LeaveAWayThatFailsAlsoForOneOfWhichLittleWasSeen) {
  for (unsigned i = 0; i < until_known; ++i) {
    TransferPath const path = paths.choose(4096);
    path == TransferPath::mapped ? paths.took(4096, path, nanoseconds::max())
                                 : paths.took_longer(4096, path, nanoseconds(5));
  }
  EXPECT_EQ(paths.choose(4096), TransferPath::copied);
}

/// Seen to fail if they do not count among the first.
TEST_F(LoneBatches, TryOtherWaysThoughNoneIsWatchedToItsEnd) {
  std::map<TransferPath, unsigned> went;
  for (unsigned i = 0; i < until_known; ++i) {
    TransferPath const path = paths.choose(4096);
    ++went[path];
    paths.took_longer(4096, path, nanoseconds(200));
  }
  EXPECT_EQ(went.at(TransferPath::copied), PathTimes::samples);
  EXPECT_EQ(paths.choose(4096), TransferPath::mapped) << "nothing speaks against it";
}

TEST_F(LoneBatches, CountNotWhatTheFirstTook) {
  times[TransferPath::mapped] = nanoseconds(1'000'000);
  for (unsigned i = 0; i < PathTimes::warm_up; ++i) EXPECT_EQ(go(), TransferPath::mapped);
  times[TransferPath::mapped] = nanoseconds(10);
  go_until_known();
  EXPECT_EQ(go(), TransferPath::mapped);
}

TEST_F(LoneBatches, OfAnotherSizeMayGoAnotherWay) {
  go_until_known(4096);
  times[TransferPath::mapped] = nanoseconds(1000);
  go_until_known(65'536);
  EXPECT_EQ(go(65'536), TransferPath::copied);
  EXPECT_EQ(go(4096), TransferPath::mapped);
  EXPECT_EQ(go(8191), TransferPath::mapped) << "about as large";
}

/// Four pinned tiles of 1 KiB in and out, of which 4 KiB may be mapped at once. All must come home.
struct PathsOfALane : testing::Test {
  static constexpr TileShape shape{.input_bytes = 1024, .output_bytes = 1024};
  cpu::CpuDevice device;
  Slab slab{Pool::slab_bytes(shape, 4), std::nullopt, 1};
  Pinned pinned = device.pin(slab.bytes());
  Pool pool{slab.bytes(), shape, 4};
  Stages stages = on_device([](DeviceTile const&, StreamRef) {}, {.reads_once = true});
  Stream stream = device.make_stream();
  std::unique_ptr<Stage> stage = stages.make({device, stream, shape});
  PathChooser paths{device, Transport::automatic, 4096, shape, 4};
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home"; }

  /// The path of so many full tiles, if `put` were put before and `retired` are through.
  TransferPath choose(std::size_t tiles, std::uint64_t put, std::uint64_t retired) {
    std::array<Loan, 4> loans;
    for (std::size_t i = 0; i < tiles; ++i) {
      loans[i] = pool.borrow();
      loans[i]->filled = shape.input_bytes;
    }
    return paths.choose(std::span(loans).first(tiles), *stage, put, retired);
  }
};

TEST_F(PathsOfALane, AreMappedAsLongAsNoMoreThanTheBoundIs) {
  EXPECT_EQ(choose(2, 0, 0), TransferPath::mapped);
  paths.begin_mapped(4096);
  EXPECT_EQ(choose(1, 2, 0), TransferPath::copied);
  paths.end_mapped(4096);
  EXPECT_EQ(choose(1, 3, 3), TransferPath::mapped);
}

/// Seen to fail if only a device without tiles in flight maps.
TEST_F(PathsOfALane, MapBehindMappedTilesAndNeverBehindCopiedOnes) {
  EXPECT_EQ(choose(1, 0, 0), TransferPath::mapped);
  EXPECT_EQ(choose(1, 1, 0), TransferPath::mapped) << "behind a mapped one";
  EXPECT_EQ(choose(3, 2, 0), TransferPath::copied) << "too many bytes";
  EXPECT_EQ(choose(1, 5, 4), TransferPath::copied) << "the last of these is in flight";
  EXPECT_EQ(choose(1, 6, 6), TransferPath::mapped);
}

/// Seen to fail if a batch is watched that had no choice.
TEST_F(PathsOfALane, AreWatchedOnlyOfBatchesThatHadAChoice) {
  choose(1, 0, 0);
  paths.watch({});
  EXPECT_TRUE(paths.watches());
  paths.cut_off({}, false);
  EXPECT_FALSE(paths.watches());
  choose(1, 1, 0);
  paths.watch({});
  EXPECT_FALSE(paths.watches()) << "another was in flight";
  choose(1, 2, 2);
  paths.discount();
  paths.watch({});
  EXPECT_FALSE(paths.watches());
}

}  // namespace
}  // namespace penstock
