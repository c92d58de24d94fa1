// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/plan/resolve_options.hpp"
#include "penstock/elements.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using std::chrono::microseconds;
using support::SaysItIsAGpu;

/// Returns what there is to say against options that are out of bounds; "" if nothing is.
std::string refusal(PipelineOptions const& options) {
  SaysItIsAGpu gpu;
  std::vector<std::string> remarks;
  try {
    static_cast<void>(resolve(options, {&gpu}, Topology::from_synthetic("core:8 pu:1"), remarks));
    return "";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
}

TEST(Options, AreRefusedIfTilesHaveNoBytes) {
  EXPECT_THAT(refusal({}), testing::StartsWith("The tiles have no bytes: set PipelineOptions::tile"));
  EXPECT_EQ(refusal({.tile = {.input_bytes = 1}}), "");
  EXPECT_EQ(refusal({.tile = {.output_bytes = 1}}), "");
}

TEST(Options, AreRefusedIfANumberIsBeyondWhatCanBe) {
  PipelineOptions const good{.tile = tile_of<float>(1024)};
  auto const with = [&](auto change) {
    PipelineOptions options = good;
    change(options, options.tuning);
    return refusal(options);
  };
  EXPECT_EQ(refusal(good), "");
  EXPECT_EQ(with([](auto&, Tuning& tuning) { tuning.slots = 100'000; }),
            "`slots` is at most 65534, not 100000: ask for fewer.");
  EXPECT_THAT(with([](auto&, Tuning& tuning) { tuning.batch = 100'000; }), testing::StartsWith("`batch` is at most"));
  EXPECT_THAT(with([](auto&, Tuning& tuning) { tuning.tiles = 100'000; }), testing::StartsWith("`tiles` is at most"));
  EXPECT_EQ(with([](auto&, Tuning& tuning) { tuning.memory = ~std::size_t{0}; }), "") << "only text is held to less";
  EXPECT_THAT(with([](PipelineOptions& options, auto&) { options.producers = 2000; }),
              testing::StartsWith("A pipeline has up to 1024 producers, not 2000"));
}

TEST(Options, AreRefusedIfAGpuIsToBeFedByTheLanesThemselves) {
  PipelineOptions options{.tile = tile_of<float>(1024)};
  options.tuning.run_to_completion = true;
  EXPECT_THAT(refusal(options), testing::StartsWith("`run_to_completion` is for CPU devices"));
}

TEST(Options, AreRefusedIfATimeIsNegativeOrAWordIsNone) {
  PipelineOptions const good{.tile = tile_of<float>(1024)};
  auto const with = [&](auto change) {
    PipelineOptions options = good;
    change(options.tuning);
    return refusal(options);
  };
  EXPECT_THAT(with([](Tuning& tuning) { tuning.spin = microseconds(-1); }), testing::StartsWith("`spin` is a time"));
  EXPECT_THAT(with([](Tuning& tuning) { tuning.borrow_spin = microseconds(-1); }),
              testing::StartsWith("`borrow_spin` is a time"));
  EXPECT_THAT(with([](Tuning& tuning) { tuning.patience = std::chrono::nanoseconds(0); }),
              testing::StartsWith("A lane needs some `patience`"));
  EXPECT_THAT(with([](Tuning& tuning) { tuning.signal = static_cast<SignalKind>(77); }),
              testing::StartsWith("`signal` has a value that there is not: choose from callback"));
  EXPECT_EQ(with([](Tuning& tuning) { tuning.spin = tuning.borrow_spin = microseconds(0); }), "");
}

}  // namespace
}  // namespace penstock
