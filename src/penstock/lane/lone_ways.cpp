// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lone_ways.hpp"

#include <algorithm>
#include <bit>

namespace penstock {

using std::chrono::nanoseconds;

namespace {

/// Longer than anything but what fails.
constexpr nanoseconds some_time = nanoseconds::max() - nanoseconds(1);

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

  unsigned round = samples;
  for (std::size_t i = 0; i < ways; ++i) {
    if (may[i]) round = std::min(round, of.counts[i]);
  }
  if (round < samples) return of.turn(may, round);

  std::size_t best = index_of(preferred);
  for (std::size_t i = best; i < ways; ++i) {
    if (may[i] && median(of.most[i]) < median(of.least[best])) best = i;
  }
  of.best = static_cast<BatchWay>(best);
  return *of.best;
}

/// Forth in one round and back in the next, ABCCBA: where every other batch of a size is heavy each way gets as many of
/// these.
BatchWay LoneWays::Tried::turn(std::array<bool, ways> const& may, unsigned round) const noexcept {
  for (std::size_t place = 0; place < ways; ++place) {
    std::size_t const i = round % 2 == 0 ? place : ways - 1 - place;
    if (may[i] && counts[i] == round) return static_cast<BatchWay>(i);
  }
  return BatchWay::copied;
}

void LoneWays::took(std::size_t bytes, BatchWay way, nanoseconds time) noexcept {
  note(bytes, way, time, time);
}

void LoneWays::took_longer(std::size_t bytes, BatchWay way, nanoseconds than) noexcept {
  note(bytes, way, than, some_time);
}

void LoneWays::note(std::size_t bytes, BatchWay way, nanoseconds at_least, nanoseconds at_most) noexcept {
  Tried& of = tried(bytes);
  if (of.warmed < warm_up) {
    ++of.warmed;
    return;
  }
  unsigned& count = of.counts[index_of(way)];
  if (count == samples) return;
  of.least[index_of(way)][count] = at_least;
  of.most[index_of(way)][count++] = at_most;
}

/// Of so many one that was held up, by whatever, says nothing.
nanoseconds LoneWays::median(Times& times) noexcept {
  auto const middle = times.begin() + samples / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

LoneWays::Tried& LoneWays::tried(std::size_t bytes) noexcept {
  return sizes_[static_cast<std::size_t>(std::bit_width(std::min(bytes, most_bytes)))];
}

}  // namespace penstock
