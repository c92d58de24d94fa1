// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/intervals.hpp"

#include <algorithm>
#include <utility>

namespace penstock {

Intervals::Intervals(std::vector<Stretch> stretches) : stretches_(std::move(stretches)) {
  std::sort(stretches_.begin(), stretches_.end(),
            [](Stretch const& one, Stretch const& other) { return one.begin < other.begin; });
  std::size_t kept = 0;
  for (Stretch const next : stretches_) {
    if (next.end <= next.begin) continue;
    if (kept != 0 && next.begin <= stretches_[kept - 1].end) {
      stretches_[kept - 1].end = std::max(stretches_[kept - 1].end, next.end);
    } else {
      stretches_[kept++] = next;
    }
  }
  stretches_.resize(kept);
}

std::int64_t Intervals::length() const noexcept {
  std::int64_t sum = 0;
  for (Stretch const& stretch : stretches_) sum += stretch.end - stretch.begin;
  return sum;
}

Intervals united(Intervals const& one, Intervals const& other) {
  std::vector<Stretch> all = one.stretches();
  all.insert(all.end(), other.stretches().begin(), other.stretches().end());
  return Intervals(std::move(all));
}

Intervals common(Intervals const& one, Intervals const& other) {
  std::vector<Stretch> shared;
  auto mine = one.stretches().begin();
  auto theirs = other.stretches().begin();
  while (mine != one.stretches().end() && theirs != other.stretches().end()) {
    shared.push_back({std::max(mine->begin, theirs->begin), std::min(mine->end, theirs->end)});
    // The stretch that ends first can share nothing more.
    if (mine->end < theirs->end) {
      ++mine;
    } else {
      ++theirs;
    }
  }
  return Intervals(std::move(shared));
}

}  // namespace penstock
