// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lone_ways.hpp"

#include <algorithm>
#include <bit>

namespace penstock {
namespace {

constexpr std::size_t index_of(BatchWay way) noexcept {
  return static_cast<std::size_t>(way);
}

}  // namespace

BatchWay LoneWays::choose(std::size_t bytes, bool may_map, bool may_take_one_stream) noexcept {
  std::array const may{may_map, may_take_one_stream, true};
  auto const preferred = static_cast<BatchWay>(std::find(may.begin(), may.end(), true) - may.begin());
  Tried& of = tried(bytes);
  if (preferred == BatchWay::copied || of.warmed < warm_up) return preferred;
  if (of.best && may[index_of(*of.best)]) return *of.best;

  std::size_t least_tried = index_of(preferred);
  for (std::size_t i = least_tried; i < ways; ++i) {
    if (may[i] && of.counts[i] < of.counts[least_tried]) least_tried = i;
  }
  if (of.counts[least_tried] < samples) return static_cast<BatchWay>(least_tried);

  std::size_t best = index_of(preferred);
  for (std::size_t i = best; i < ways; ++i) {
    if (may[i] && median(of.times[i]) < median(of.times[best])) best = i;
  }
  of.best = static_cast<BatchWay>(best);
  return *of.best;
}

void LoneWays::took(std::size_t bytes, BatchWay way, std::chrono::nanoseconds time) noexcept {
  Tried& of = tried(bytes);
  if (of.warmed < warm_up) {
    ++of.warmed;
    return;
  }
  unsigned& count = of.counts[index_of(way)];
  if (count < samples) of.times[index_of(way)][count++] = time;
}

/// Of so many one that was held up, by whatever, says nothing.
std::chrono::nanoseconds LoneWays::median(std::array<std::chrono::nanoseconds, samples>& times) noexcept {
  auto const middle = times.begin() + samples / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

LoneWays::Tried& LoneWays::tried(std::size_t bytes) noexcept {
  return sizes_[static_cast<std::size_t>(std::bit_width(std::min(bytes, most_bytes)))];
}

}  // namespace penstock
