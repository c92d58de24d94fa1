// SPDX-License-Identifier: Apache-2.0
// A device that refuses each question and is lost, as a GPU whose context the application has taken away.
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/lane/lane.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Refuses so many questions in a row: far more than a lane asks while its patience lasts.
constexpr std::uint64_t refused_questions = 20000;
constexpr std::chrono::milliseconds patience{500};

/// A device and two tiles. All come home.
struct ADeviceThatWasReset : testing::Test {
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};
  alignas(256) std::array<std::byte, 2 * 256> slab{};
  Pool pool{slab, shape, 2};
  support::SaysItIsAGpu device;

  void reset() {
    for (std::uint64_t i = 1; i <= refused_questions; ++i) device.cpu().inject(cpu::Fault::refuse_query, i);
    device.say_lost(Error(ErrorKind::device_lost, "The application took the context away."));
  }
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home"; }
};

/// Seen to fail, with the reason of a kernel that does not end, if the lane asks the same again and again.
TEST_F(ADeviceThatWasReset, FailsItsTilesAtOnceAndBlamesNoKernel) {
  std::array<std::optional<Failure>, 2> failures;
  // The stage is on the lane's thread, which alone asks from here on.
  auto const stages = on_device([this](DeviceTile const& tile, StreamRef) {
    if (tile.sequence == 0) reset();
    return std::size_t{0};
  });
  Lane lane(device, shape, 2, {.flight = {.patience = patience}, .watchdog = std::chrono::milliseconds(5)}, 0, stages,
            [&](Completion completion) {
              if (completion.failure != nullptr) failures[completion.loan->sequence] = *completion.failure;
            });
  for (std::uint64_t i = 0; i < 2; ++i) {
    Loan loan = pool.borrow();
    loan->sequence = i;
    ASSERT_TRUE(lane.submit(loan));
  }
  lane.close();
  for (auto const& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->stage, "device");
    EXPECT_THAT(failure->reason, HasSubstr("took the context away"));
  }
  EXPECT_TRUE(lane.lost());
  EXPECT_FALSE(device.abandoned()) << "its patience ran out";
}

}  // namespace
}  // namespace penstock
