// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "penstock/report/measured_run.hpp"

namespace penstock {

/// One of the parts that a tile's way leads through, and how near it was to the most it can do.
///
/// Units: tiles per second.
struct PartUse {
  Bound part = Bound::nothing_measured;
  double share = 0;                    ///< The greater of `time` and rate / ceiling; from 0 to 1.
  std::optional<double> time = {};     ///< How much of its time it was in use.
  std::optional<double> ceiling = {};  ///< What it comes to alone.
  double most = 0;                     ///< What it would allow if it never waited: rate / share.
  /// The same, of a part that is not the bound: between what its time says, in which it also waited for others, and
  /// what it comes to alone, where no other part was in its way.
  double likely() const noexcept;
};

/// How much each part of a run was in use.
struct Utilisation {
  double rate = 0;  ///< Tiles per second.
  double payload =
      0;  ///< Bytes per tile by which throughput is told: up; down, if none go up; else what there is room for.
  std::vector<PartUse> parts = {};  ///< Those of which something is known.
  /// What producers did of their time, in sum 1. Empty if there are none.
  struct Producers {
    double borrowing = 0, filling = 0, waiting = 0;  ///< For a tile; in the source; for their turn in the source.
  };
  std::optional<Producers> producers = {};
  /// Which parts of the time of all CPUs that the process may use it had, and other processes had.
  struct Cpus {
    double own = 0, others = 0;
    double not_told = 0;  ///< How much more others may have had.
    double left() const noexcept { return own + others < 1 ? 1 - own - others : 0; }
    /// Threads waited for CPUs that other processes had, so what their times say is not what the run would take alone.
    bool contended() const noexcept { return others >= 0.1 && own + others >= 0.85; }
    /// It is not known whether it is.
    bool may_be_contended() const noexcept { return Cpus{own, others + not_told}.contended(); }
  };
  std::optional<Cpus> cpus = {};  ///< Empty if unknown.
  /// Of a CPU time that was measured, and that was spent on work and not on watching a GPU: nothing is left.
  bool cpus_full = false;

  /// Tiles per second at which the host has no CPU left that other processes do not use, if all threads were to do more
  /// of the same, but for `saved` of their time. Infinite if unknown.
  ///
  /// Units: `saved` in CPU seconds of the run.
  double cpus_most(double saved = 0) const;
  double cpu_seconds = 0;  ///< That `cpus` counts as the process's own.

  PartUse const* find(Bound part) const noexcept;
  /// The one with the greatest share but for some, the first of equals; null if there is none.
  PartUse const* busiest(std::initializer_list<Bound> but_for = {}) const noexcept;
};

/// Shape: wall and tiles are not 0.
Utilisation utilisation_of(RunFigures const& figures, Ceilings const& ceilings);

/// One way of the link, and what is known of it.
struct LinkWay {
  std::string name;
  PartUse const* use = nullptr;  ///< Null if nothing goes that way.
  std::optional<double> link = {};
  std::optional<double> one_way = {};  ///< What copies like the run's come to with none the other way.
  double bytes = 0;                    ///< Of a tile.

  /// Tiles per second; infinite if nothing goes that way.
  double most() const;
  bool known() const { return use != nullptr && use->ceiling && link && *link > 0; }
  /// Seconds that a tile's copy takes alone, and those of them in which its bytes move; of a way that is known.
  double alone() const { return 1 / *use->ceiling; }
  double moving() const;
  /// Seconds of `alone` that are lost before its bytes move; what the other way takes from this one is not.
  double set_up() const;
  /// Tiles per second, if so many of them were one copy.
  double most_with(double together) const;
};

LinkWay way_up(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);
LinkWay way_down(RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);

/// Tiles per second that all parts together, but for CPUs, allow if a lane puts so many times as many on the device at
/// once: the calls for a batch and the set-up of its copies hardly depend on its tiles, each of which is taken back by
/// itself.
double most_with_batches(double times, RunFigures const& figures, Ceilings const& ceilings, Utilisation const& use);

}  // namespace penstock
