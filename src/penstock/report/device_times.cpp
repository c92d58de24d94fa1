// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/device_times.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "penstock/report/number_text.hpp"
#include "penstock/report/overlap.hpp"

namespace penstock {

namespace {

/// Where a passage of a tile was: its tile and its row.
using Place = std::pair<std::uint64_t, std::uint32_t>;

/// How many tiles these are the passages of: those of one tile on several rows belong together.
double tiles_of(std::vector<Place>& places) {
  std::ranges::sort(places);
  std::size_t tiles = 0, most_on_a_row = 0, on_this_row = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    bool const same_row = i > 0 && places[i] == places[i - 1];
    if (i > 0 && places[i].first != places[i - 1].first) tiles += std::exchange(most_on_a_row, 0);
    on_this_row = same_row ? on_this_row + 1 : 1;
    most_on_a_row = std::max(most_on_a_row, on_this_row);
  }
  return static_cast<double>(tiles + most_on_a_row);
}

/// The mean of what a tile takes, in seconds: of the passages that were not cut, or of all if all were. A tile with
/// several inputs has as many uploads.
std::optional<double> mean_of(Recording const& recording, Step step) {
  double sum = 0, sum_of_whole = 0;
  std::vector<Place> all, whole;
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

std::optional<DeviceTimes> device_times(Recording const& recording) {
  DeviceTimes times{.upload = mean_of(recording, Step::upload),
                    .kernel = mean_of(recording, Step::stage),
                    .download = mean_of(recording, Step::download)};
  Overlap const seen = overlap_of(recording);
  if (seen.busy.count() == 0) return std::nullopt;
  if (!seen.speed_of_light) return times;
  auto const sum = static_cast<double>((seen.uploading + seen.downloading + seen.computing).count());
  times.overlap = seen.overlap;
  times.possible_speedup =
      sum / static_cast<double>(std::max({seen.uploading, seen.downloading, seen.computing}).count());
  times.speedup = sum / static_cast<double>(seen.busy.count());
  return times;
}

std::string describe(DeviceTimes const& times) {
  std::string text = "A tile takes";
  char const* separator = " ";
  auto const add = [&](char const* name, std::optional<double> const& seconds) {
    if (!seconds) return;
    text += separator + std::string(name) + " " + seconds_text(*seconds);
    separator = ", ";
  };
  add("upload", times.upload);
  add("kernel", times.kernel);
  add("download", times.download);
  if (times.overlap) text += "; overlap is " + percent_text(*times.overlap);
  if (times.speedup && times.possible_speedup) {
    text += (times.overlap ? ", which is " : "; that is ") + factor_text(*times.speedup) +
            " x of one after the other, and " + factor_text(*times.possible_speedup) + " x is possible";
  }
  return text + ".";
}

}  // namespace penstock
