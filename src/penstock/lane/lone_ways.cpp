// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/lone_ways.hpp"

#include <algorithm>
#include <bit>

namespace penstock {

using std::chrono::nanoseconds;

namespace {

/// Longer than any time but that of a failure.
constexpr nanoseconds some_time = nanoseconds::max() - nanoseconds(1);

constexpr std::size_t index_of(BatchWay way) noexcept {
  return static_cast<std::size_t>(way);
}

}  // namespace

BatchWay LoneWays::choose(std::size_t bytes) noexcept {
  Tried& of = tried(bytes);
  if (of.warmed < warm_up) return BatchWay::mapped;
  if (of.best) return *of.best;

  constexpr std::size_t mapped = index_of(BatchWay::mapped), copied = index_of(BatchWay::copied);
  unsigned const round = std::min(of.counts[mapped], of.counts[copied]);
  if (round < samples) return of.turn(round);

  of.best = median(of.most[copied]) < median(of.least[mapped]) ? BatchWay::copied : BatchWay::mapped;
  return *of.best;
}

/// Forth in one round and back in the next, ABBA: if every other batch of a size is heavy, each way gets as many heavy
/// batches as the other.
BatchWay LoneWays::Tried::turn(unsigned round) const noexcept {
  bool const mapped_is_due = counts[index_of(BatchWay::mapped)] == round;
  bool const copied_is_due = counts[index_of(BatchWay::copied)] == round;
  bool const back = round % 2 == 1;
  return mapped_is_due && !(back && copied_is_due) ? BatchWay::mapped : BatchWay::copied;
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

/// Among so many times a single one that was delayed has no effect.
nanoseconds LoneWays::median(Times& times) noexcept {
  auto const middle = times.begin() + samples / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

LoneWays::Tried& LoneWays::tried(std::size_t bytes) noexcept {
  return sizes_[static_cast<std::size_t>(std::bit_width(std::min(bytes, most_bytes)))];
}

}  // namespace penstock
