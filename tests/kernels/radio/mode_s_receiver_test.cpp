// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/radio.hpp"

namespace penstock {
namespace {

constexpr std::uint32_t some_aircraft = 0x4D2023;
constexpr std::uint64_t minute = 60 * std::uint64_t{2'000'000};

ModeSFrame with_parity(ModeSFrame frame, std::uint32_t beside) {
  std::uint32_t const parity = frame.remainder() ^ beside;  // The frame ends in zeros.
  for (unsigned k = 0; k < 3; ++k) {
    frame.bytes.at(frame.length - 1U - k) = static_cast<std::uint8_t>(parity >> 8 * k);
  }
  return frame;
}
/// The aircraft names itself by a frame of format 17, or 11.
ModeSFrame naming(std::uint32_t sample, std::uint32_t address, unsigned format = 17) {
  ModeSFrame frame{.sample = sample, .length = format == 11 ? std::uint8_t{7} : std::uint8_t{14}};
  frame.bytes = {static_cast<std::uint8_t>(format << 3U), static_cast<std::uint8_t>(address >> 16U),
                 static_cast<std::uint8_t>(address >> 8U), static_cast<std::uint8_t>(address)};
  return with_parity(frame, 0);
}
ModeSFrame answering(std::uint32_t sample, std::uint32_t address, std::uint8_t number) {
  return with_parity({.sample = sample, .bytes = {4U << 3U, number}, .length = 7}, address);
}
ModeSFrame between(ModeSFrame frame) {
  frame.between = 1;
  return frame;
}
/// Blocks with these frames, each in the block in which it begins.
std::vector<ModeSBlock> blocks_of(std::vector<ModeSFrame> const& frames, std::size_t samples) {
  std::vector<ModeSBlock> blocks(mode_s_blocks(2 * samples));
  for (ModeSFrame const& frame : frames) {
    ModeSBlock& block = blocks.at(frame.sample / mode_s_block_samples);
    block.frames.at(block.found++) = frame;
  }
  return blocks;
}

/// Its lines have the sample in front. It knows of no aircraft.
struct AModeSReceiver : testing::Test {
  ModeSReceiver receiver{240, true};

  void take(std::vector<ModeSFrame> const& frames, std::size_t samples) {
    receiver.take(samples, blocks_of(frames, samples));
  }
  /// The samples at which lines say that frames begin.
  std::vector<std::uint64_t> heard() {
    receiver.finish();
    std::vector<std::uint64_t> all;
    for (std::size_t at = 0; at < receiver.lines().size(); at = receiver.lines().find('\n', at) + 1) {
      all.push_back(std::stoull(receiver.lines().substr(at)));
    }
    return all;
  }
};
using Places = std::vector<std::uint64_t>;

TEST_F(AModeSReceiver, TakesFramesInTheirOrderWhereverTheyLieInABlock) {
  std::vector<ModeSFrame> frames;
  Places wanted;
  for (std::uint32_t k = 0; k < 48; ++k) {
    frames.push_back(naming((k * 29) % 48 * 300 % 14'400, some_aircraft + k));
    if (frames.back().sample >= 12'000) frames.back() = answering(frames.back().sample, some_aircraft + k, 1);
    wanted.push_back(300 * std::uint64_t{k});
  }
  take(frames, 20'000);
  wanted.resize(40);  // Those behind are of aircraft that do not name themselves.
  EXPECT_EQ(heard(), wanted);
  EXPECT_EQ(receiver.summary(), "# DF17 40\n# frames 40, aircraft 40\n");
}

TEST_F(AModeSReceiver, KnowsThousandsOfAircraftForAMinute) {
  constexpr std::uint32_t aircraft = 3000;
  std::vector<ModeSFrame> names, answers;
  for (std::uint32_t k = 0; k < aircraft; ++k) {
    names.push_back(naming(340 * k, k * 5000 + 1, k % 2 == 0 ? 17 : 11));
    answers.push_back(answering(340 * k, k * 5000 + 1, 2));
    answers.push_back(answering(340 * k + 170, k * 5000 + 2, 2));
  }
  take(names, 1'100'000);
  EXPECT_EQ(heard().size(), aircraft);
  take(answers, 1'100'000);
  EXPECT_EQ(heard().size(), 2 * aircraft);
  take({answering(1000, 1, 3)}, minute - 1'500'000);
  EXPECT_EQ(heard().size(), 2 * aircraft + 1);
  take({answering(100'000, 1, 3), answering(200'000, (aircraft - 1) * 5000 + 1, 3)}, 1'000'000);
  EXPECT_EQ(heard().size(), 2 * aircraft + 2) << "the first has been silent for more than a minute";
}

TEST_F(AModeSReceiver, TakesWhatLiesAcrossTilesOnce) {
  take({naming(9800, some_aircraft)}, 10'000);
  take({naming(40, some_aircraft), answering(9700, some_aircraft, 1)}, 10'000);
  EXPECT_EQ(heard(), (Places{9800, 9760 + 9700}));
}

TEST_F(AModeSReceiver, SaysOfAFrameThatWasFoundTwiceWhereItIsAWholeSample) {
  auto const frame = naming(500, some_aircraft);
  auto earlier = between(frame);
  --earlier.sample;
  take({earlier, frame, between(frame), between(naming(900, some_aircraft + 1))}, 10'000);
  EXPECT_EQ(heard(), (Places{500, 900}));
}

TEST_F(AModeSReceiver, TakesNothingThatBeginsWithinAFrame) {
  take({naming(500, some_aircraft), answering(739, some_aircraft, 1), answering(740, some_aircraft, 1)}, 10'000);
  EXPECT_EQ(heard(), (Places{500, 740}));
}

TEST_F(AModeSReceiver, CountsWhatDidNotFit) {
  std::vector<ModeSBlock> blocks(1);
  blocks[0].found = mode_s_block_frames + 3;
  receiver.take(mode_s_block_samples, blocks);
  EXPECT_EQ(receiver.summary(), "# frames 0, aircraft 0\n# lost: 3, where too many began side by side\n");
}

}  // namespace
}  // namespace penstock
