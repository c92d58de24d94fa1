// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "observe/verdict/measured_run.hpp"
#include "observe/verdict/utilisation.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// The reason why work of the device is serialised.
enum class Turns : std::uint8_t {
  none,           ///< It is not, or no more than necessary.
  legacy_stream,  ///< All lanes compute in the legacy default stream.
  single_stream,  ///< The only lane does all work in one stream.
  one_lane,       ///< Kernels could run in parallel, but the only lane has one stream for them.
  barrier,        ///< A stage waits for the device, so that its lane begins no other tile meanwhile.
  unknown,
};

/// The part that had too few tiles.
enum class Room : std::uint8_t {
  enough,
  slots,  ///< All slots were in use.
  pool,   ///< All tiles were in use, before all slots.
  run,    ///< The run had fewer tiles than there are slots.
};

/// Bottleneck of a run, and its kind.
struct Finding {
  Bound bound = Bound::nothing_measured;
  Turns turns = Turns::none;
  Room room = Room::enough;
};

/// Finds the bottleneck of a run, which is the first of these that applies:
/// - serialised work of the device, if that is visible, and neither the source nor the sink is in use for nine tenths,
///   nor the lanes, unless the cause is known: if tiles come or go one by one, there is nothing to serialise;
/// - a part of the device that was in use for nine tenths, since any other change gains a ninth at most;
/// - the CPUs of the host, if they had no time left;
/// - the part that was most in use, if for four fifths;
/// - the main activity of producers, since no part was busy: filling, waiting for a turn in the source, or waiting for
///   tiles. If they waited for tiles, all were in progress: too few, or their lanes learned of them too late.
///
/// Shape: wall and tiles are not 0.
Finding find_bound(RunFigures const& figures, Utilisation const& use);

/// The reason why more streams will not help; empty if they might, or if that is not known. The link counts as full
/// only from half of its throughput of large copies on.
std::optional<WhyNoStreams> why_no_streams(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                                           Utilisation const& use);

}  // namespace penstock
