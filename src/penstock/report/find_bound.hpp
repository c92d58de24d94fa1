// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "penstock/report.hpp"
#include "penstock/report/measured_run.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// Why work of the device takes turns.
enum class Turns : std::uint8_t {
  none,           ///< It does not, or no more than it must.
  legacy_stream,  ///< All lanes compute in the one legacy default stream.
  single_stream,  ///< The only lane does all in one stream.
  one_lane,       ///< Kernels could run side by side, but the only lane has one stream for them.
  barrier,        ///< A stage waits for the device, so that its lane begins no other tile meanwhile.
  unknown,
};

/// Where too few tiles were missing.
enum class Room : std::uint8_t {
  enough,
  slots,  ///< All slots were in use.
  pool,   ///< All tiles were, before all slots.
  run,    ///< The run had fewer tiles than there are slots.
};

/// What bounded a run, and of what kind that is.
struct Finding {
  Bound bound = Bound::nothing_measured;
  Turns turns = Turns::none;
  Room room = Room::enough;
};

/// What bounded a run:
/// - work of the device that takes turns, if that shows, and neither the source nor the sink is in use for nine tenths,
///   nor the lanes, unless it is known why: where tiles come one by one, or go one by one, there is nothing to take
///   turns with;
/// - else a part of the device that was in use for nine tenths, since whatever else was changed gained a ninth at most;
/// - else the CPUs of the host, if they had nothing left;
/// - else the part that was most in use, if for four fifths;
/// - else, since no part was busy, what producers did most: filling, waiting for a turn in the source, or waiting for
///   tiles. If they waited for tiles, all were on their way: too few, or their lanes heard too late of them.
///
/// Shape: wall and tiles are not 0.
Finding find_bound(RunFigures const& figures, Utilisation const& use);

/// Empty if they might help, or if that is not known. The link is not called full while it carries less than half of
/// what it carries of large copies.
std::optional<WhyNoStreams> why_no_streams(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                                           Utilisation const& use);

}  // namespace penstock
