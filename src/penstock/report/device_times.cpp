// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/device_times.hpp"

#include <algorithm>
#include <chrono>

#include "penstock/report/number_text.hpp"
#include "penstock/report/step_times.hpp"

namespace penstock {

std::optional<DeviceTimes> device_times(Recording const& recording) {
  DeviceTimes times;
  for (StepTimes const& one : step_times(recording)) {
    double const mean = std::chrono::duration<double>(one.total).count() /
                        static_cast<double>(std::max<std::uint64_t>(1, one.passages));
    if (one.step == Step::upload) times.upload = mean;
    if (one.step == Step::stage) times.kernel = mean;
    if (one.step == Step::download) times.download = mean;
  }
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
