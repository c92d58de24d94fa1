// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/defaults.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

std::vector<PipelineKind> all_kinds() {
  std::vector<PipelineKind> kinds;
  for (Driven const driven : {Driven::cpu, Driven::gpu, Driven::several_gpus}) {
    for (Aim const aim : all_aims) {
      for (TileClass const tile : {TileClass::small, TileClass::large}) kinds.push_back({driven, aim, tile});
    }
  }
  return kinds;
}

/// Seen to fail with a row twice, and without one.
TEST(Defaults, HaveOneRowForEachNumberOfEachKindOfPipeline) {
  for (auto number = Number::lanes; number <= Number::bytes_of_producers;
       number = static_cast<Number>(static_cast<int>(number) + 1)) {
    for (PipelineKind const kind : all_kinds()) {
      auto const rows =
          std::ranges::count_if(defaults::table, [&](Default const& row) { return row.is_for(number, kind); });
      bool const shared = kind.driven == Driven::several_gpus && kind.aim == Aim::throughput;
      bool const is_of_shared_cache = number == Number::bytes_of_producer || number == Number::bytes_of_producers;
      EXPECT_EQ(rows, is_of_shared_cache && !shared ? 0 : 1)
          << "number " << static_cast<int>(number) << " of devices " << static_cast<int>(kind.driven) << ", aim "
          << to_string(kind.aim) << ", tile class " << static_cast<int>(kind.tile);
    }
  }
}

TEST(Defaults, CiteABenchOrAPageThatIsThere) {
  for (Default const& row : defaults::table) {
    std::string cited(row.bench);
    if (cited.starts_with("bench/")) cited += ".cpp";
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::path(PENSTOCK_SOURCE) / cited)) << cited;
  }
}

TEST(Defaults, TellTilesApartByTheLargerPart) {
  EXPECT_EQ(tile_class(large_tile - 1), TileClass::small);
  EXPECT_EQ(tile_class(large_tile), TileClass::large);
  constexpr PipelineKind small{.driven = Driven::gpu}, large{.driven = Driven::gpu, .tile = TileClass::large};
  EXPECT_EQ(default_of(Number::lanes, small), 2u);
  EXPECT_EQ(default_of(Number::lanes, large), 1u);
}

TEST(Defaults, CountBytesInBinaryUnits) {
  EXPECT_EQ(default_of(Number::batch_bytes, {.driven = Driven::gpu}), 8u << 20);
  EXPECT_EQ(default_of(Number::batch_bytes, {.driven = Driven::gpu, .tile = TileClass::large}), 32u << 20);
}

}  // namespace
}  // namespace penstock
