// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/radio.hpp"

namespace penstock {
namespace {

constexpr SpectrumForm form{.points = 256, .transforms = 4};
constexpr std::size_t spectrum_samples = std::size_t{form.points} * form.transforms;

/// A spectrum of four transforms, with power at one frequency.
std::vector<float> spectrum(std::size_t at, float power) {
  std::vector<float> values(form.points, 4e-6F);
  values[at] = 4 * power;
  return values;
}

TEST(Waterfall, HasARowForEachSpectrumAndTheMostPowerWhereItIs) {
  Waterfall waterfall(form, 8);
  EXPECT_TRUE(waterfall.levels().empty());
  for (std::size_t k = 0; k < 3; ++k) waterfall.add(spectrum(10 * k, 1), spectrum_samples);
  auto const levels = waterfall.levels();
  ASSERT_EQ(levels.size(), 3 * form.points);
  for (std::size_t k = 0; k < levels.size(); ++k)
    EXPECT_EQ(levels[k], k % form.points == k / form.points * 10 ? 255 : 0);
}

TEST(Waterfall, HasNoMoreRowsThanItMayWhateverTheTime) {
  Waterfall waterfall(form, 8);
  for (std::size_t k = 0; k < 1000; ++k) {
    waterfall.add(spectrum(k / 500 * 100, 1), spectrum_samples);
    EXPECT_LE(waterfall.rows(), 8U);
  }
  // Each row stands for 128 spectra, the last one for fewer.
  auto const levels = waterfall.levels();
  ASSERT_EQ(levels.size(), 8 * form.points);
  for (std::size_t row = 0; row < 8; ++row) {
    EXPECT_EQ(levels[row * form.points] > 200, row < 4) << row;
    EXPECT_EQ(levels[row * form.points + 100] > 200, row >= 3) << row;
  }
}

TEST(Waterfall, DoesNotDependOnHowSamplesWereCutIntoTiles) {
  Waterfall one(form, 8), other(form, 8);
  std::vector<float> both = spectrum(3, 1);
  std::ranges::copy(spectrum(5, 0.5F), std::back_inserter(both));
  one.add(both, 2 * spectrum_samples);
  other.add(spectrum(3, 1), spectrum_samples);
  std::vector<float> half = spectrum(5, 0.5F);
  for (float& value : half) value /= 2;
  other.add(half, spectrum_samples / 2);
  other.add(half, spectrum_samples / 2);
  EXPECT_EQ(one.levels(), other.levels());
}

TEST(Waterfall, HasRowsOfTheSameTimeThoughTilesAreNoWholeSpectra) {
  Waterfall waterfall(form, 64);
  std::vector<float> tile = spectrum(3, 1);
  std::ranges::copy(spectrum(3, 0.75F), std::back_inserter(tile));
  for (std::size_t k = 0; k < 16; ++k) waterfall.add(tile, spectrum_samples * 7 / 4);
  EXPECT_EQ(waterfall.rows(), 16U * 7 / 4);
}

TEST(Waterfall, TakesOfATileWhatIsNotInTheNextOne) {
  EXPECT_EQ(form.samples_of_tile(4096, 1024), 3072U);
  EXPECT_EQ(form.samples_of_tile(4096, 1000), 3328U) << "so much of the overlap that no sample is left out";
  EXPECT_EQ(form.samples_of_tile(960, 240), 768U);
  EXPECT_EQ(form.samples_of_tile(200, 240), 0U);
}

}  // namespace
}  // namespace penstock
