// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "observe/verdict/measured_run.hpp"

namespace penstock {

/// One part on a tile's way, and its use relative to its maximum.
///
/// Units: tiles per second.
struct PartUse {
  Bound part = Bound::nothing_measured;
  double share = 0;                    ///< The greater of `time` and rate / ceiling, from 0 to 1.
  std::optional<double> time = {};     ///< Part of its time in which it was in use.
  std::optional<double> ceiling = {};  ///< Throughput that it reaches alone.
  double most = 0;                     ///< Throughput without any waiting: rate / share.
  /// The same for a part that is not the bottleneck: between the value from its time, which includes waiting for
  /// others, and its throughput alone, without other parts.
  double likely() const noexcept;
};

/// Use of each part of a run.
struct Utilisation {
  double rate = 0;  ///< Tiles per second.
  double payload =
      0;  ///< Bytes per tile for throughput in bytes: uploaded; downloaded, if none are uploaded; else the size of a
          /// tile.
  std::vector<PartUse> parts = {};  ///< Parts of which something is known.
  /// Parts of the producers' time, with sum 1. Empty if there are none.
  struct Producers {
    double borrowing = 0, filling = 0, waiting = 0;  ///< Waiting for a tile; in the source; waiting for their turn in
                                                     /// the source.
  };
  std::optional<Producers> producers = {};
  /// Parts of the time of all CPUs that the process may use, taken by it and by other processes.
  struct Cpus {
    double own = 0, others = 0;
    double not_told = 0;  ///< Possible additional part of others.
    double left() const noexcept { return own + others < 1 ? 1 - own - others : 0; }
    /// Threads waited for CPUs that other processes had, so what their times say is not what the run would take alone.
    bool contended() const noexcept { return others >= 0.1 && own + others >= 0.85; }
    /// True if it is not known whether there was contention.
    bool may_be_contended() const noexcept { return Cpus{own, others + not_told}.contended(); }
  };
  std::optional<Cpus> cpus = {};  ///< Empty if unknown.
  /// True if no CPU time is left, according to a measured CPU time that was spent on work and not on polling a GPU.
  bool cpus_full = false;

  /// Tiles per second at which the host has no CPU left that other processes do not use, if all threads did more of the
  /// same, except for `saved` of their time. Infinite if unknown.
  ///
  /// Units: `saved` in CPU seconds of the run.
  double cpus_most(double saved = 0) const;
  double cpu_seconds = 0;  ///< CPU seconds that `cpus` counts as the process's own.

  PartUse const* find(Bound part) const noexcept;
  /// The part with the greatest share except `but_for`, the first of equals; null if there is none.
  PartUse const* busiest(std::initializer_list<Bound> but_for = {}) const noexcept;
};

/// Shape: wall and tiles are not 0.
Utilisation utilisation_of(RunFigures const& figures, Ceilings const& ceilings);

/// One direction of the link, with its known figures.
struct LinkWay {
  std::string name;
  PartUse const* use = nullptr;  ///< Null if that direction is not used.
  std::optional<double> link = {};
  std::optional<double> one_way = {};  ///< Throughput of copies like the run's with none in the other direction.
  double bytes = 0;                    ///< Bytes of a tile.

  /// Tiles per second; infinite if that direction is not used.
  double most() const;
  bool known() const { return use != nullptr && use->ceiling && link && *link > 0; }
  /// Seconds of a tile's copy alone, and the part in which its bytes move; only for a known direction.
  double alone() const { return 1 / *use->ceiling; }
  double moving() const;
  /// Seconds of `alone` before its bytes move; the time that the other direction takes from this one is not included.
  double set_up() const;
  /// Tiles per second, if one copy had this number of tiles.
  double most_with(double together) const;
};

LinkWay way_up(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);
LinkWay way_down(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);

/// Tiles per second that all parts together, except CPUs, allow if a lane puts `times` as many on the device at once:
/// the calls for a batch and the set-up of its copies hardly depend on its tiles, each of which is taken back
/// separately.
double most_with_batches(double times, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);

}  // namespace penstock
