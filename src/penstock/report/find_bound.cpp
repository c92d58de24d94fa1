// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/find_bound.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>

namespace penstock {
namespace {

constexpr double nothing_else_matters = 0.9;
constexpr double in_use = 0.8;
constexpr double apart = 0.2;        ///< Overlap up to which things went one after the other.
constexpr double well_above = 1.25;  ///< A ceiling that the run is not near to.

bool may_overlap(RunFigures const& figures) {
  return slots_of_all(figures) > 1 && figures.pool > 1;
}

bool legacy_in_common(RunFigures const& figures) {
  return figures.legacy && !figures.own_streams && figures.lanes > 1;
}

/// A stage that waits for the device: the lane is not free, the device works meanwhile, and hardly a second tile joins.
bool waits_in_stage(RunFigures const& figures) {
  if (!figures.overlap || !figures.enqueue || !figures.in_flight) return false;
  auto const seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
  double const device =
      seconds(figures.overlap->uploading) + seconds(figures.overlap->downloading) + seconds(figures.overlap->computing);
  return *figures.enqueue >= in_use * figures.wall * std::max(figures.lanes, 1U) && figures.slots > 1 &&
         device >= *figures.enqueue / 2 && *figures.in_flight < 2.0 * figures.lanes;
}

Turns turns_of(RunFigures const& figures, Utilisation const& use) {
  if (!may_overlap(figures)) return Turns::none;
  if (waits_in_stage(figures)) return Turns::barrier;

  PartUse const* const kernel = use.find(Bound::kernel);
  bool const kernels_one_by_one =
      kernel != nullptr && kernel->time.value_or(0) >= in_use && kernel->ceiling.value_or(0) >= well_above * use.rate;
  if (kernels_one_by_one && legacy_in_common(figures)) return Turns::legacy_stream;
  if (kernels_one_by_one && figures.lanes == 1) return Turns::one_lane;

  if (!figures.overlap || !figures.overlap->overlap || !figures.overlap->speed_of_light) return Turns::none;
  Overlap const& seen = *figures.overlap;
  bool const always_busy = static_cast<double>(seen.busy.count()) >= in_use * static_cast<double>(seen.window.count());
  if (*seen.speed_of_light >= nothing_else_matters || *seen.overlap > apart || !always_busy) return Turns::none;
  if (figures.single_stream && figures.lanes == 1) return Turns::single_stream;
  return legacy_in_common(figures) ? Turns::legacy_stream : Turns::unknown;
}

PartUse const* full(Utilisation const& use, std::initializer_list<Bound> among) {
  PartUse const* fullest = nullptr;
  for (Bound const part : among) {
    PartUse const* const found = use.find(part);
    if (found == nullptr || found->share < nothing_else_matters) continue;
    if (fullest == nullptr || found->share > fullest->share) fullest = found;
  }
  return fullest;
}

/// All tiles were on their way, and no part was busy.
Finding find_latency(RunFigures const& figures) {
  if (legacy_in_common(figures) && !figures.overlap) return {Bound::serialising_stream, Turns::legacy_stream};
  if (figures.notice && figures.in_flight && *figures.notice >= 0.5 * *figures.in_flight * figures.wall) {
    return {Bound::completion};
  }
  std::uint64_t const slots = slots_of_all(figures);
  bool const slots_full = figures.in_flight && *figures.in_flight >= in_use * static_cast<double>(slots);
  bool const pool_short = figures.pool < slots + figures.producers;
  return {Bound::too_few_tiles, Turns::none, pool_short && !slots_full ? Room::pool : Room::slots};
}

}  // namespace

Finding find_bound(RunFigures const& figures, Utilisation const& use) {
  PartUse const* const host = full(use, {Bound::fill, Bound::sink});
  Turns const turns = turns_of(figures, use);
  if (turns != Turns::none && host == nullptr) return {Bound::serialising_stream, turns};
  if (PartUse const* const device = full(use, {Bound::upload, Bound::download, Bound::kernel})) return {device->part};
  PartUse const* const busiest = use.busiest();
  if (busiest != nullptr && busiest->share >= in_use) return {busiest->part};

  if (figures.tiles < slots_of_all(figures)) return {Bound::too_few_tiles, Turns::none, Room::run};
  if (!use.producers) {
    // An application that pushes waits for a tile only if all are out.
    bool const all_out = figures.in_flight && *figures.in_flight >= in_use * static_cast<double>(slots_of_all(figures));
    return all_out ? find_latency(figures) : Finding{Bound::source_waits};
  }
  if (use.producers->borrowing > std::max(use.producers->filling, use.producers->waiting)) return find_latency(figures);
  return {use.producers->filling >= use.producers->waiting ? Bound::fill : Bound::source_waits};
}

}  // namespace penstock
