// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/radio.hpp"

namespace penstock {

Waterfall::Waterfall(SpectrumForm form, std::size_t most_rows)
    : form_(form),
      most_rows_(most_rows),
      row_transforms_(form.transforms),
      row_end_(form.transforms),
      sums_(form.points) {}

void Waterfall::add(std::span<float const> spectra, std::size_t samples) {
  std::size_t left = form_.transforms_of(samples);
  for (std::size_t at = 0; left != 0 && at + form_.points <= spectra.size(); at += form_.points) {
    for (std::size_t k = 0; k < form_.points; ++k) sums_[k] += double{spectra[at + k]};
    std::size_t const transforms = std::min<std::size_t>(left, form_.transforms);
    transforms_ += transforms;
    pending_ += transforms;
    left -= transforms;
    if (transforms_ < row_end_) continue;
    end_row();
    row_end_ += row_transforms_;
  }
}

void Waterfall::end_row() {
  for (double& sum : sums_) {
    rows_.push_back(static_cast<float>(sum / static_cast<double>(pending_)));
    sum = 0;
  }
  pending_ = 0;
  std::size_t const points = form_.points, rows = rows_.size() / points;
  if (rows < most_rows_) return;
  for (std::size_t row = 0; row < rows / 2; ++row) {
    float const* const both = &rows_[2 * row * points];
    for (std::size_t k = 0; k < points; ++k) rows_[row * points + k] = (both[k] + both[points + k]) / 2;
  }
  rows_.resize(rows / 2 * points);
  row_transforms_ *= 2;
}

std::vector<std::uint8_t> Waterfall::levels() const {
  constexpr float least_power = 1e-12F, least_range = 10;
  std::vector<float> decibels = rows_;
  if (pending_ != 0) {
    for (double const sum : sums_) decibels.push_back(static_cast<float>(sum / static_cast<double>(pending_)));
  }
  if (decibels.empty()) return {};
  for (float& value : decibels) value = 10 * std::log10(std::max(value, least_power));
  std::vector<float> ordered = decibels;
  auto const weakest = ordered.begin() + static_cast<std::ptrdiff_t>(ordered.size() / 100);
  std::ranges::nth_element(ordered, weakest);
  float const low = *weakest, range = std::max(least_range, *std::ranges::max_element(decibels) - low);
  std::vector<std::uint8_t> levels;
  for (float const value : decibels) {
    levels.push_back(static_cast<std::uint8_t>(std::clamp((value - low) / range, 0.0F, 1.0F) * 255));
  }
  return levels;
}

}  // namespace penstock
