// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/trace_cost.hpp"

#include <vector>

#include "penstock/core/recorder.hpp"

namespace penstock::measure {
namespace {

/// Passages, of 32 bytes each: a quarter of a second of two million tiles.
constexpr std::size_t most_room = std::size_t{1} << 23;

}  // namespace

inline namespace PENSTOCK_FLAVOUR {

std::optional<Spread> kept_when_traced(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                                       std::uint64_t every, unsigned pairs, std::stop_token const& stop) {
  std::vector<double> kept;
  std::size_t room = RecorderOptions{}.capacity;
  for (unsigned pair = 0; pair < pairs;) {
    Recorder recorder({.capacity = room, .every = every});
    TrialOptions traced = options;
    traced.recorder = &recorder;
    // The run that comes first finds the machine as the last pair left it, so the two take turns at that.
    bool const traced_first = pair % 2 == 1;
    auto const first = run_trial(devices, setting, traced_first ? traced : options, stop);
    auto const second = run_trial(devices, setting, traced_first ? options : traced, stop);
    if (!first || !second) return std::nullopt;
    // A full recorder costs nothing.
    if (recorder.missed() > 0) {
      if (room >= most_room) return std::nullopt;
      room *= 2;
      continue;
    }
    ++pair;
    double const with = (traced_first ? first : second)->metered.tiles_per_second();
    double const without = (traced_first ? second : first)->metered.tiles_per_second();
    if (without > 0) kept.push_back(with / without);
  }
  if (kept.empty()) return std::nullopt;
  return spread_of(kept);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
