// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/device_times.hpp"

#include <algorithm>
#include <cstdint>

#include "penstock/report/number_text.hpp"
#include "penstock/report/overlap.hpp"

namespace penstock {

namespace {

/// The mean, in seconds: of those that were not cut, or of all if all were.
std::optional<double> mean_of(Recording const& recording, Step step) {
  double sum = 0, sum_of_whole = 0;
  std::uint64_t passages = 0, whole = 0;
  for (Passage const& passage : recording.passages) {
    if (passage.step != step) continue;
    auto const seconds = static_cast<double>(passage.end - passage.begin) * 1e-9;
    sum += seconds;
    ++passages;
    bool const cut = (recording.cut_from && passage.begin <= *recording.cut_from) ||
                     (recording.cut_to && passage.end >= *recording.cut_to);
    if (cut) continue;
    sum_of_whole += seconds;
    ++whole;
  }
  if (passages == 0) return std::nullopt;
  return whole > 0 ? sum_of_whole / static_cast<double>(whole) : sum / static_cast<double>(passages);
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
