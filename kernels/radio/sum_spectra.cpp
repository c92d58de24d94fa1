// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "kernels/radio/radio_on_cuda.hpp"
#include "penstock/error.hpp"
#include "penstock/radio.hpp"

namespace penstock {
namespace {

/// Number of transforms done at once, each step of all of them by the same instructions.
constexpr std::size_t side_by_side = 8;
using Side = std::array<float, side_by_side>;

/// Tables that all transforms of `points` share.
struct TransformTables {
  explicit TransformTables(std::size_t points) : cosine(points / 2), sine(points / 2), window(points) {
    double const turn = 2 * std::numbers::pi / static_cast<double>(points);
    for (std::size_t k = 0; k < points / 2; ++k) {
      cosine[k] = static_cast<float>(std::cos(turn * static_cast<double>(k)));
      sine[k] = static_cast<float>(-std::sin(turn * static_cast<double>(k)));
    }
    // The mean of a Hann window is a half.
    for (std::size_t k = 0; k < points; ++k) {
      double const weight = (1 - std::cos(turn * static_cast<double>(k))) / 2;
      window[k] = static_cast<float>(weight / (255 * 0.5 * static_cast<double>(points)));
    }
  }
  std::vector<float> cosine, sine, window;
};

/// Computes up to eight transforms of a CPU block.
class Transforms {
 public:
  explicit Transforms(TransformTables const& tables) : tables_(tables), points_(tables.window.size()) {}

  /// Shape: `samples` are those of `count` transforms, two bytes each.
  void load(std::span<unsigned char const> samples, std::size_t count) {
    for (std::size_t n = 0; n < points_; ++n) {
      re_[n] = im_[n] = {};
      for (std::size_t j = 0; j < count; ++j) {
        unsigned char const* const sample = &samples[2 * (j * points_ + n)];
        re_[n][j] = tables_.window[n] * static_cast<float>(2 * sample[0] - 255);
        im_[n][j] = tables_.window[n] * static_cast<float>(2 * sample[1] - 255);
      }
    }
  }
  /// Transforms in place; the output is in the order of reversed bits.
  void transform() {
    for (std::size_t half = points_ / 2; half != 0; half /= 2) {
      std::size_t const step = points_ / 2 / half;
      for (std::size_t begin = 0; begin < points_; begin += 2 * half) {
        for (std::size_t k = 0; k < half; ++k) {
          float const cosine = tables_.cosine[k * step], sine = tables_.sine[k * step];
          // The values are copied, as places could be the same ones for all that the compiler knows.
          Side const re_low = re_[begin + k], re_high = re_[begin + k + half];
          Side const im_low = im_[begin + k], im_high = im_[begin + k + half];
          Side re_sum, im_sum, re_turned, im_turned;  // NOLINT(cppcoreguidelines-pro-type-member-init): below.
          for (std::size_t j = 0; j < side_by_side; ++j) {
            float const re = re_low[j] - re_high[j], im = im_low[j] - im_high[j];
            re_sum[j] = re_low[j] + re_high[j];
            im_sum[j] = im_low[j] + im_high[j];
            re_turned[j] = re * cosine - im * sine;
            im_turned[j] = re * sine + im * cosine;
          }
          re_[begin + k] = re_sum;
          im_[begin + k] = im_sum;
          re_[begin + k + half] = re_turned;
          im_[begin + k + half] = im_turned;
        }
      }
    }
  }
  void add_powers(std::span<float> spectrum) const {
    auto const unused = static_cast<unsigned>(std::countl_zero(static_cast<std::uint32_t>(points_ - 1)));
    for (std::size_t n = 0; n < points_; ++n) {
      float power = 0;
      for (std::size_t j = 0; j < side_by_side; ++j) power += re_[n][j] * re_[n][j] + im_[n][j] * im_[n][j];
      spectrum[reversed(static_cast<std::uint32_t>(n)) >> unused ^ points_ / 2] += power;
    }
  }

 private:
  static constexpr std::size_t most_points = 1024;

  static std::uint32_t reversed(std::uint32_t value) {
    value = (value >> 16U) | value << 16U;
    value = (value >> 8U & 0x00FF00FFU) | (value & 0x00FF00FFU) << 8U;
    value = (value >> 4U & 0x0F0F0F0FU) | (value & 0x0F0F0F0FU) << 4U;
    value = (value >> 2U & 0x33333333U) | (value & 0x33333333U) << 2U;
    return (value >> 1U & 0x55555555U) | (value & 0x55555555U) << 1U;
  }

  TransformTables const& tables_;
  std::size_t const points_;
  std::array<Side, most_points> re_, im_;  // NOLINT(cppcoreguidelines-pro-type-member-init): `load` does it.
};

void sum_on_cpu(DeviceSpan<std::byte const> input, DeviceSpan<float> spectra, SpectrumForm const& form,
                StreamRef stream, unsigned multiprocessors) {
  std::size_t const samples = input.size() / 2, rows = form.spectra_of(samples);
  double const steps = std::bit_width(form.points) - 1, transforms = static_cast<double>(form.transforms_of(samples));
  stream.launch(static_cast<std::uint32_t>(rows),
                [=, tables = std::make_shared<TransformTables const>(form.points)](KernelBlock block) {
                  auto const bytes = input.in(block);
                  auto const all = std::span(reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size());
                  auto const spectrum = spectra.in(block).subspan(std::size_t{block} * form.points, form.points);
                  std::ranges::fill(spectrum, 0.0F);
                  std::size_t const first = std::size_t{block} * form.transforms;
                  std::size_t const end = std::min(form.transforms_of(samples), first + form.transforms);
                  Transforms some(*tables);
                  for (std::size_t at = first; at < end; at += side_by_side) {
                    std::size_t const count = std::min(side_by_side, end - at);
                    some.load(all.subspan(2 * at * form.points, 2 * count * form.points), count);
                    some.transform();
                    some.add_powers(spectrum);
                  }
                },
                {.reads = {input},
                 .writes = DeviceSpan<std::byte const>(reinterpret_cast<std::byte const*>(spectra.address()),
                                                       rows * form.points * sizeof(float)),
                 .flops = transforms * form.points * (5 * steps + 10),
                 .blocks = modelled_blocks(multiprocessors, rows),
                 .block_threads = form.points / 2});
}

}  // namespace

void sum_spectra(DeviceSpan<std::byte const> input, DeviceSpan<float> spectra, SpectrumForm const& form,
                 StreamRef stream, unsigned multiprocessors) {
  if ((form.points != 256 && form.points != 512 && form.points != 1024) || form.transforms == 0) {
    throw Error(ErrorKind::bad_argument,
                "A spectrum has 256, 512 or 1024 points, and one transform or more; this has " +
                    std::to_string(form.points) + " points and " + std::to_string(form.transforms) + " transforms.");
  }
  std::size_t const rows = form.spectra_of(input.size() / 2);
  if (spectra.size() < rows * form.points) {
    throw Error(ErrorKind::bad_argument, "sum_spectra has room for " + std::to_string(spectra.size()) +
                                             " values, and writes " + std::to_string(rows * form.points) +
                                             ": give it form.spectra_of(samples) * form.points.");
  }
  if (rows == 0) return;
  if (stream.kind() == DeviceKind::cuda) {
    sum_spectra_cuda(input, spectra, form, blocks_on(multiprocessors), stream.native());
  } else {
    sum_on_cpu(input, spectra, form, stream, multiprocessors);
  }
}

void sum_spectra_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) sum_spectra_prepare_cuda();
}

}  // namespace penstock
