// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/until_stopped.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::measure {
namespace {

/// Three tiles, and a source that a stop does not end by itself.
struct AnInputThatIsStopped : testing::Test {
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home"; }

  /// Returns how many tiles come before the end.
  std::uint64_t tiles_of(Source& source) {
    std::uint64_t count = 0;
    for (Loan const loan = pool.borrow(); count < 100 && source.next(*loan);) ++count;
    return count;
  }

  TileShape const shape{.input_bytes = 8};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 3));
  Pool pool{slab, shape, 3};
  std::stop_source stop;
};

TEST_F(AnInputThatIsStopped, GivesWhatItHadRead) {
  std::uint64_t left = 2;
  auto held = serial([&](Tile&) { return left-- > 0 ? std::optional<std::size_t>(8) : std::nullopt; });
  UntilStopped source(held, pool, stop.get_token());
  stop.request_stop();
  EXPECT_EQ(tiles_of(source), 2U);
}

TEST_F(AnInputThatIsStopped, EndsThoughItsSourceGoesOn) {
  auto endless = serial([](Tile&) { return std::optional<std::size_t>(8); });
  UntilStopped source(endless, pool, stop.get_token());
  EXPECT_EQ(tiles_of(source), 100U);
  stop.request_stop();
  EXPECT_EQ(tiles_of(source), 3U);
}

}  // namespace
}  // namespace penstock::measure
