// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"
#include "penstock/radio.hpp"

namespace penstock {
namespace {

using Samples = std::vector<unsigned char>;  // Each has two bytes.

/// Returns what the device makes of samples that begin at an odd address.
std::vector<float> spectra_of(KernelsOn& on, Samples const& samples, SpectrumForm const& form,
                              unsigned multiprocessors = 0) {
  std::vector<float> spectra(form.spectra_of(samples.size() / 2) * form.points);
  auto const there = on.memory(samples.size() + 1), found = on.memory(spectra.size() * sizeof(float) + 1);
  on.upload(there.subspan(1), std::as_bytes(std::span(samples)));
  sum_spectra_prepare(on.stream());
  sum_spectra(DeviceSpan<std::byte>(there).subspan(1), DeviceSpan<std::byte>(found).as<float>(), form, on.stream(),
              multiprocessors);
  if (!spectra.empty()) {
    on.download(std::as_writable_bytes(std::span(spectra)), found.first(spectra.size() * sizeof(float)));
  }
  return spectra;
}

/// Returns the same as the header says it, by the definition of a Fourier transform.
std::vector<double> expected(Samples const& samples, SpectrumForm const& form) {
  double const pi = std::numbers::pi, points = form.points;
  std::vector<std::complex<double>> turns;
  for (std::size_t k = 0; k < form.points; ++k)
    turns.push_back(std::polar(1.0, -2 * pi * static_cast<double>(k) / points));
  std::vector<double> all(form.spectra_of(samples.size() / 2) * form.points);
  for (std::size_t t = 0; t < form.transforms_of(samples.size() / 2); ++t) {
    for (std::size_t k = 0; k < form.points; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t n = 0; n < form.points; ++n) {
        unsigned char const* const sample = &samples[2 * (t * form.points + n)];
        double const window = (1 - turns[n].real()) / points;
        sum +=
            window / 255 * std::complex<double>(2 * sample[0] - 255, 2 * sample[1] - 255) * turns[n * k % form.points];
      }
      all[t / form.transforms * form.points + (k + form.points / 2) % form.points] += std::norm(sum);
    }
  }
  return all;
}

Samples carrier(std::size_t samples, double cycles_a_sample) {
  Samples all;
  for (std::size_t n = 0; n < samples; ++n) {
    double const phase = 2 * std::numbers::pi * cycles_a_sample * static_cast<double>(n);
    all.push_back(static_cast<unsigned char>(std::lround(127.5 + 127.5 * std::cos(phase))));
    all.push_back(static_cast<unsigned char>(std::lround(127.5 + 127.5 * std::sin(phase))));
  }
  return all;
}

TEST_P(KernelsOn, SumSpectraAsThePlainTransformDoes) {
  std::mt19937 random(4);
  for (SpectrumForm const form : {SpectrumForm{256, 5}, {512, 3}, {1024, 2}, {512, 32}}) {
    // The last spectrum is of fewer transforms, and what is behind the last transform does not count.
    Samples samples = carrier(4 * std::size_t{form.points} * (form.transforms < 9 ? 5 : 1) / 3 + 77, 0.1234);
    for (auto& byte : samples) byte = static_cast<unsigned char>((3U * byte + random() % 256) / 4);
    auto const wanted = expected(samples, form);
    for (unsigned const multiprocessors : {0U, 1U}) {
      auto const found = spectra_of(*this, samples, form, multiprocessors);
      ASSERT_EQ(found.size(), wanted.size());
      double power = 0;
      for (double const value : wanted) power += value;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        ASSERT_NEAR(found[k], wanted[k], 1e-5 * power) << k << " of " << form.points;
      }
    }
  }
}

TEST_P(KernelsOn, SumACarrierIntoTheValueOfItsFrequency) {
  for (std::uint32_t const points : {256U, 512U, 1024U}) {
    SpectrumForm const form{.points = points, .transforms = 4};
    for (std::uint32_t const at : {points / 2, points / 2 + 3, points / 8, points - 1}) {
      double const cycles = static_cast<double>(at) / points - 0.5;
      auto const found = spectra_of(*this, carrier(8 * std::size_t{points}, cycles), form);
      ASSERT_EQ(found.size(), 2 * points);
      EXPECT_NEAR(found[at], 4, 0.05);
      EXPECT_NEAR(found[points + at], 4, 0.05);
      EXPECT_LT(found[(at + points / 2) % points], 1e-4);
    }
  }
}

TEST_P(KernelsOn, SumNoSpectraOfFewSamplesAndOfNoOtherForms) {
  EXPECT_TRUE(spectra_of(*this, Samples(1023), {}).empty());
  auto const samples = memory(4096), found = memory(4096);
  auto const sum = [&](SpectrumForm const& form, std::size_t room) {
    sum_spectra(DeviceSpan<std::byte>(samples), DeviceSpan<std::byte>(found).as<float>().first(room), form, stream());
  };
  EXPECT_THROW(sum({.points = 512, .transforms = 3}, 1023), Error);
  EXPECT_THROW(sum({.points = 128}, 1024), Error);
  EXPECT_THROW(sum({.points = 512, .transforms = 0}, 1024), Error);
}

}  // namespace
}  // namespace penstock
