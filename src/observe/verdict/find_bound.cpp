// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/find_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/plan/usual_sizes.hpp"

namespace penstock {
namespace {

constexpr double nothing_else_matters = 0.9;
constexpr double in_use = 0.8;
constexpr double apart = 0.2;        ///< Overlap up to which work counts as serial.
constexpr double well_above = 1.25;  ///< Factor of a ceiling that the run is not close to.

bool may_overlap(RunFigures const& figures) {
  return slots_of_all(figures) > 1 && figures.pool > 1;
}

/// True if the stream that lanes share had work for so much of the time that it was the bottleneck, and no part of the
/// device is known to have been at its limit there.
bool turns_in_shared_stream(RunFigures const& figures, Utilisation const& use) {
  if (shared_stream_busy(figures).value_or(0) < in_use) return false;
  return std::ranges::none_of(use.parts, [&](PartUse const& part) {
    bool const copies = part.part == Bound::upload || part.part == Bound::download;
    if (!copies && part.part != Bound::kernel) return false;
    return part.ceiling && use.rate * (copies ? 1 / nothing_else_matters : well_above) > *part.ceiling;
  });
}

/// True if a stage waits for the device: the lane is busy while the device works for the same tile. A second tile may
/// be done by then, unknown to the lane; a third rarely is.
bool waits_in_stage(RunFigures const& figures) {
  if (!figures.enqueue || !figures.meanwhile || !figures.in_flight) return false;
  double const lanes = std::max(figures.lanes, 1U);
  return *figures.enqueue >= in_use * figures.wall * lanes && figures.slots > 1 &&
         *figures.meanwhile >= *figures.enqueue / 2 && *figures.in_flight < 3 * lanes;
}

Turns turns_of(RunFigures const& figures, Utilisation const& use) {
  if (!may_overlap(figures)) return Turns::none;
  if (waits_in_stage(figures)) return Turns::barrier;

  PartUse const* const kernel = use.find(Bound::kernel);
  bool const kernels_one_by_one =
      kernel != nullptr && kernel->time.value_or(0) >= in_use && kernel->ceiling.value_or(0) >= well_above * use.rate;
  if (kernels_one_by_one && figures.lanes == 1) return Turns::one_lane;
  if (turns_in_shared_stream(figures, use)) return Turns::legacy_stream;

  if (!figures.overlap || !figures.overlap->overlap || !figures.overlap->speed_of_light) return Turns::none;
  Overlap const& seen = *figures.overlap;
  bool const always_busy = static_cast<double>(seen.busy.count()) >= in_use * static_cast<double>(seen.window.count());
  if (*seen.speed_of_light >= nothing_else_matters || *seen.overlap > apart || !always_busy) return Turns::none;
  if (figures.single_stream && figures.lanes == 1) return Turns::single_stream;
  return Turns::unknown;
}

/// True if a run ended before all its parts worked at once: their use then says nothing about a longer run. Where few
/// tiles are in flight batches do not fill, and a run that had many times as many worked as it always does.
bool too_short(RunFigures const& figures) {
  constexpr std::uint64_t few = 32;
  constexpr unsigned batches = 2;  // Batches for each lane.
  constexpr double many_times = 16;
  std::uint64_t const batched = std::uint64_t{batches} * std::max(figures.lanes, 1U) * std::max(figures.batch, 1U);
  double const in_flight = std::max(1.0, figures.in_flight.value_or(static_cast<double>(figures.tiles)));
  bool const steady = static_cast<double>(figures.tiles) >= many_times * in_flight;
  return figures.tiles < few || (figures.tiles < batched && !steady);
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

/// Finds the bottleneck if all tiles were in progress, and no part was busy.
Finding find_latency(RunFigures const& figures) {
  constexpr double half = 0.5;
  if (figures.shares != SharedStream::none && shared_stream_busy(figures).value_or(1) >= half)
    return {Bound::serialising_stream, Turns::legacy_stream};
  if (figures.notice && figures.in_flight && *figures.notice >= 0.5 * *figures.in_flight * figures.wall) {
    return {Bound::completion};
  }
  std::uint64_t const slots = slots_of_all(figures);
  bool const slots_full = figures.in_flight && *figures.in_flight >= in_use * static_cast<double>(slots);
  bool const pool_short = figures.pool < slots + figures.producers;
  return {Bound::too_few_tiles, Turns::none, pool_short && !slots_full ? Room::pool : Room::slots};
}

constexpr double full_link = 0.5;    ///< Part of the throughput of large copies; below it the link has room for more.
constexpr double full_device = 0.8;  ///< Part of the throughput of kernels in many streams; find_bound uses the same
                                     /// limit.

/// Bytes that a tile moves in the direction with more of them.
double filled_bytes(RunFigures const& figures) {
  double const moved = std::max(figures.bytes_up, figures.bytes_down);
  return moved > 0 ? moved : figures.tile_bytes;
}

std::string too_small(double bytes) {
  return "tiles of " + size_text(static_cast<std::uint64_t>(std::llround(bytes))) + " are too small: ";
}

/// Duration in seconds of the longest step of a tile on the device; 0 if unknown. If lanes are the bottleneck, the
/// other steps run in parallel, for other tiles.
double longest_step(RunFigures const& figures) {
  if (!figures.overlap || !figures.overlap->speed_of_light) return 0;
  Overlap const& seen = *figures.overlap;
  auto const longest = std::max({seen.uploading, seen.downloading, seen.computing});
  return static_cast<double>(longest.count()) / 1e9 / static_cast<double>(figures.tiles);
}

using Why = std::optional<WhyNoStreams>;

Why because(NoStreams reason, std::string const& text) {
  return WhyNoStreams{reason, "Streams will not help here, because " + text + '.'};
}

Why on_link(LinkWay const& way, std::string const& direction, Utilisation const& use) {
  if (way.known() && way.set_up() >= way.moving()) {
    return because(NoStreams::work_too_small, too_small(way.bytes) + "of the " + seconds_text(way.alone()) +
                                                  " that one takes " + way.name + ", " + seconds_text(way.set_up()) +
                                                  " are set-up, and copies in more streams wait in the same line");
  }
  std::optional<double> carried;
  if (way.link && *way.link > 0) carried = use.rate * way.bytes / *way.link;
  if (carried.value_or(1) < full_link) return std::nullopt;
  bool const by_time = way.use->time.value_or(0) >= way.use->share;
  std::string text = "the link " + direction + " the device is ";
  text += by_time ? "in use " + percent_text(way.use->share) + " of the time"
                  : "at " + percent_text(way.use->share) + " of what such copies reach alone";
  if (carried) text += ", and at " + percent_text(*carried) + " of what large ones do";
  return because(NoStreams::link_full, text + ": copies in more streams wait in the same line");
}

/// The number of kernels that fit on the device at once is known only if it was measured.
Why on_kernels(Utilisation const& use) {
  PartUse const& kernels = *use.find(Bound::kernel);
  if (!kernels.ceiling || use.rate < full_device * *kernels.ceiling) return std::nullopt;
  return because(NoStreams::kernels_fill_device, "kernels fill the device to " +
                                                     percent_text(std::min(1.0, use.rate / *kernels.ceiling)) +
                                                     ": those in more streams wait until others end");
}

/// The reason for lanes that pass small tiles to the device or take them back; empty if tiles are large, or a step of
/// the device takes longer for one.
Why on_small_tiles(double lane_share, RunFigures const& figures) {
  double const lane = lane_share * figures.wall * figures.lanes / static_cast<double>(figures.tiles);
  double const device = longest_step(figures), bytes = filled_bytes(figures);
  if (bytes >= static_cast<double>(large_tile) || lane < device) return std::nullopt;
  std::string text = too_small(bytes) + "a lane is busy with one for " + seconds_text(lane);
  if (device > 0) text += ", the device's longest step takes " + seconds_text(device);
  return because(NoStreams::work_too_small, text + "; more streams would only take more calls");
}

Why on_lanes(PartUse const& lanes, RunFigures const& figures) {
  if (Why small = on_small_tiles(lanes.share, figures)) return small;
  if (lanes.part != Bound::submission) return std::nullopt;
  return because(NoStreams::host, "the device waits for the host: lanes are at " + percent_text(lanes.share) +
                                      " of what they can give it");
}

Why on_turns(Turns turns, RunFigures const& figures) {
  if (turns == Turns::barrier) {
    return because(NoStreams::barrier,
                   "each tile's stage waits for the device before the lane begins another: a barrier");
  }
  // A single tile cannot be serialised with others.
  constexpr double some = 1.5;
  if (turns != Turns::unknown || figures.in_flight.value_or(0) < some) return std::nullopt;
  return because(NoStreams::barrier,
                 "work that has streams of its own already takes turns: a barrier, such as a call that waits for the "
                 "device, or stream 0");
}

}  // namespace

Finding find_bound(RunFigures const& figures, Utilisation const& use) {
  if (too_short(figures)) return {Bound::too_few_tiles, Turns::none, Room::run};
  if (figures.to_completion) {
    PartUse const* const most = use.busiest();
    return {most != nullptr ? most->part : Bound::source_waits};
  }
  PartUse const* const host = full(use, {Bound::fill, Bound::sink});
  Turns const turns = turns_of(figures, use);
  // Lanes that only pass work to the device do that serially, and the device has nothing to run in parallel.
  PartUse const* const lanes = turns == Turns::unknown && figures.meanwhile ? full(use, {Bound::submission}) : nullptr;
  if (lanes != nullptr && host == nullptr) return {Bound::submission};
  if (turns != Turns::none && host == nullptr) return {Bound::serialising_stream, turns};
  if (PartUse const* const device = full(use, {Bound::upload, Bound::download, Bound::kernel})) return {device->part};
  if (use.cpus_full && host == nullptr) return {Bound::cpus};
  PartUse const* const busiest = use.busiest();
  if (busiest != nullptr && busiest->share >= in_use) return {busiest->part};

  if (figures.tiles < slots_of_all(figures)) return {Bound::too_few_tiles, Turns::none, Room::run};
  if (!use.producers) {
    // An application that submits tiles waits for one only if all are on loan. The other work of its threads is not
    // known, so one thread that waits half of the time is enough.
    constexpr double half = 0.5;
    bool const all_out =
        figures.borrow_wait >= half * figures.wall ||
        (figures.in_flight && *figures.in_flight >= in_use * static_cast<double>(slots_of_all(figures)));
    return all_out ? find_latency(figures) : Finding{Bound::source_waits};
  }
  // With few tiles the parts alternate, and a producer waits for the bottleneck most of the time itself.
  constexpr double some = 0.1;
  bool const few_tiles = figures.pool < slots_of_all(figures) + figures.producers && use.producers->borrowing >= some;
  if (few_tiles || use.producers->borrowing > std::max(use.producers->filling, use.producers->waiting)) {
    return find_latency(figures);
  }
  return {use.producers->filling >= use.producers->waiting ? Bound::fill : Bound::source_waits};
}

std::optional<WhyNoStreams> why_no_streams(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                                           Utilisation const& use) {
  std::string const waits = "the device waits for the host: ";
  PartUse const* const part = use.find(finding.bound);
  switch (finding.bound) {
    case Bound::upload:
      return on_link(way_up(figures, ceilings, use), "to", use);
    case Bound::download:
      return on_link(way_down(figures, ceilings, use), "from", use);
    case Bound::kernel:
      return on_kernels(use);
    case Bound::fill:
      return because(NoStreams::host, waits + "the source is at its limit");
    case Bound::sink:
      return because(NoStreams::host, waits + "the sink is at its limit");
    case Bound::source_waits:
      return because(NoStreams::host, waits + "there is nothing to send");
    case Bound::cpus:
      return because(NoStreams::host, waits + "its CPUs have nothing left");
    case Bound::submission:
    case Bound::completion:
      return part != nullptr ? on_lanes(*part, figures) : std::nullopt;
    case Bound::serialising_stream:
      return on_turns(finding.turns, figures);
    case Bound::too_few_tiles:
    case Bound::nothing_measured:
      break;
  }
  return std::nullopt;
}

}  // namespace penstock
