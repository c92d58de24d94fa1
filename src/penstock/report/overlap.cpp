// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace penstock {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

Intervals moments_of(Recording const& recording, Step step) {
  std::vector<Stretch> stretches;
  for (Passage const& passage : recording.passages) {
    if (passage.step == step) stretches.push_back({passage.begin, passage.end});
  }
  return Intervals(std::move(stretches));
}

}  // namespace

Overlap overlap_of(Intervals const& uploads, Intervals const& downloads, Intervals const& kernels) {
  Intervals const all = united(united(uploads, downloads), kernels);
  Overlap seen;
  if (all.empty()) return seen;

  std::int64_t const up = uploads.length(), down = downloads.length(), computing = kernels.length();
  std::int64_t const busy = all.length();
  std::int64_t const window = all.stretches().back().end - all.stretches().front().begin;
  std::int64_t const longest = std::max({up, down, computing});
  std::int64_t const sum = up + down + computing;

  seen.uploading = std::chrono::nanoseconds(up);
  seen.downloading = std::chrono::nanoseconds(down);
  seen.computing = std::chrono::nanoseconds(computing);
  seen.busy = std::chrono::nanoseconds(busy);
  seen.window = std::chrono::nanoseconds(window);
  seen.speed_of_light = ratio(longest, window);
  if (sum > longest) seen.overlap = ratio(sum - busy, sum - longest);
  if (up != 0 && down != 0) seen.duplex = ratio(common(uploads, downloads).length(), std::min(up, down));
  return seen;
}

Overlap in_a_window(Overlap seen, std::chrono::nanoseconds window) {
  seen.window = std::max(seen.window, window);
  std::chrono::nanoseconds const longest = std::max({seen.uploading, seen.downloading, seen.computing});
  if (seen.speed_of_light) seen.speed_of_light = ratio(longest.count(), seen.window.count());
  return seen;
}

Overlap overlap_of(Recording const& recording) {
  Overlap seen = overlap_of(moments_of(recording, Step::upload), moments_of(recording, Step::download),
                            moments_of(recording, Step::stage));
  if (recording.every != 1) {
    seen.speed_of_light.reset();
    seen.overlap.reset();
    seen.duplex.reset();
  }
  return seen;
}

}  // namespace penstock
