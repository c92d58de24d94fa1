// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/overlap.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace penstock {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

Intervals moments_of(Recording const& recording, Step step) {
  std::vector<Interval> intervals;
  for (Passage const& passage : recording.passages) {
    if (passage.step == step) intervals.push_back({passage.begin, passage.end});
  }
  return Intervals(std::move(intervals));
}

/// The tile of a passage, and its row.
using TileOnRow = std::pair<std::uint64_t, std::uint32_t>;

/// Number of tiles with these passages: those of one tile on several rows belong together.
double tiles_of(std::vector<TileOnRow>& passages) {
  std::ranges::sort(passages);
  std::size_t tiles = 0, most_on_a_row = 0, on_this_row = 0;
  for (std::size_t i = 0; i < passages.size(); ++i) {
    bool const same_row = i > 0 && passages[i] == passages[i - 1];
    if (i > 0 && passages[i].first != passages[i - 1].first) tiles += std::exchange(most_on_a_row, 0);
    on_this_row = same_row ? on_this_row + 1 : 1;
    most_on_a_row = std::max(most_on_a_row, on_this_row);
  }
  return static_cast<double>(tiles + most_on_a_row);
}

/// Mean time of a tile in a step, in seconds: of passages that were not cut, or of all if all were. A tile with several
/// inputs has as many uploads.
std::optional<double> mean_of(Recording const& recording, Step step) {
  double sum = 0, sum_of_whole = 0;
  std::vector<TileOnRow> all, whole;
  for (Passage const& passage : recording.passages) {
    if (passage.step != step) continue;
    auto const seconds = static_cast<double>(passage.end - passage.begin) * 1e-9;
    sum += seconds;
    all.emplace_back(passage.tile, passage.row);
    bool const cut = (recording.cut_from && passage.begin <= *recording.cut_from) ||
                     (recording.cut_to && passage.end >= *recording.cut_to);
    if (cut) continue;
    sum_of_whole += seconds;
    whole.emplace_back(passage.tile, passage.row);
  }
  if (all.empty()) return std::nullopt;
  return whole.empty() ? sum / tiles_of(all) : sum_of_whole / tiles_of(whole);
}

}  // namespace

Intervals::Intervals(std::vector<Interval> intervals) : all_(std::move(intervals)) {
  std::sort(all_.begin(), all_.end(),
            [](Interval const& one, Interval const& other) { return one.begin < other.begin; });
  std::size_t kept = 0;
  for (Interval const next : all_) {
    if (next.end <= next.begin) continue;
    if (kept != 0 && next.begin <= all_[kept - 1].end) {
      all_[kept - 1].end = std::max(all_[kept - 1].end, next.end);
    } else {
      all_[kept++] = next;
    }
  }
  all_.resize(kept);
}

std::int64_t Intervals::length() const noexcept {
  std::int64_t sum = 0;
  for (Interval const& one : all_) sum += one.end - one.begin;
  return sum;
}

Intervals united(Intervals const& one, Intervals const& other) {
  std::vector<Interval> all = one.all();
  all.insert(all.end(), other.all().begin(), other.all().end());
  return Intervals(std::move(all));
}

Intervals common(Intervals const& one, Intervals const& other) {
  std::vector<Interval> shared;
  auto mine = one.all().begin();
  auto theirs = other.all().begin();
  while (mine != one.all().end() && theirs != other.all().end()) {
    shared.push_back({std::max(mine->begin, theirs->begin), std::min(mine->end, theirs->end)});
    // The interval that ends first has no further overlap.
    if (mine->end < theirs->end) {
      ++mine;
    } else {
      ++theirs;
    }
  }
  return Intervals(std::move(shared));
}

Overlap overlap_of(Intervals const& uploads, Intervals const& downloads, Intervals const& kernels) {
  Intervals const all = united(united(uploads, downloads), kernels);
  Overlap seen;
  if (all.empty()) return seen;

  std::int64_t const up = uploads.length(), down = downloads.length(), computing = kernels.length();
  std::int64_t const busy = all.length();
  std::int64_t const window = all.all().back().end - all.all().front().begin;
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

namespace {

/// Clears the figures that are unknown because steps in a shared stream have no times of their own.
Overlap without_shared(Overlap seen, SharedStream shared, Intervals const& stage) {
  bool const all = shared == SharedStream::all;
  seen.shared = all ? seen.busy : std::chrono::nanoseconds(stage.length());
  seen.computing = std::chrono::nanoseconds(0);
  if (all) seen.uploading = seen.downloading = seen.computing;
  seen.speed_of_light.reset();
  seen.overlap = all ? std::optional(0.0) : std::nullopt;
  if (all && seen.duplex) seen.duplex = 0;
  return seen;
}

}  // namespace

Overlap in_a_window(Overlap seen, std::chrono::nanoseconds window) {
  seen.window = std::max(seen.window, window);
  std::chrono::nanoseconds const longest = std::max({seen.uploading, seen.downloading, seen.computing});
  if (seen.speed_of_light) seen.speed_of_light = ratio(longest.count(), seen.window.count());
  return seen;
}

Overlap overlap_of(Recording const& recording, SharedStream shared) {
  Intervals const up = moments_of(recording, Step::upload), down = moments_of(recording, Step::download),
                  stage = moments_of(recording, Step::stage);
  Overlap seen = overlap_of(up, down, stage);
  if (shared != SharedStream::none) seen = without_shared(seen, shared, stage);
  if (recording.every != 1) {
    seen.speed_of_light.reset();
    seen.overlap.reset();
    seen.duplex.reset();
  }
  return seen;
}

std::optional<DeviceTimes> device_times(Recording const& recording, SharedStream shared) {
  Overlap const seen = overlap_of(recording, shared);
  if (seen.busy.count() == 0) return std::nullopt;
  if (shared == SharedStream::all) return DeviceTimes{.overlap = 0};
  DeviceTimes times{.upload = mean_of(recording, Step::upload),
                    .kernel = mean_of(recording, Step::stage),
                    .download = mean_of(recording, Step::download)};
  if (shared == SharedStream::stage) times.kernel.reset();
  if (shared != SharedStream::none && !times.upload && !times.download) return std::nullopt;
  if (!seen.speed_of_light) return times;
  auto const sum = static_cast<double>((seen.uploading + seen.downloading + seen.computing).count());
  times.overlap = seen.overlap;
  times.possible_speedup =
      sum / static_cast<double>(std::max({seen.uploading, seen.downloading, seen.computing}).count());
  times.speedup = sum / static_cast<double>(seen.busy.count());
  return times;
}

}  // namespace penstock
