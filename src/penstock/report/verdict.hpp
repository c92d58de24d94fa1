// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "penstock/report/advice.hpp"
#include "penstock/report/bound.hpp"
#include "penstock/report/device_times.hpp"
#include "penstock/report/no_streams.hpp"
#include "penstock/report/run_figures.hpp"

namespace penstock {

/// A throughput that something allows at most.
struct Ceiling {
  double bytes_per_second = 0;
  std::string of;  ///< "uploads alone", "the source without a pause".
};

/// What kept a run from being faster, and what to do about it.
struct Verdict {
  Bound bound = Bound::nothing_measured;
  std::vector<std::string> evidence = {};  ///< Two sentences, or one if nothing was measured.
  /// What the run came to: of the bytes that went up; down, if none went up; else that tiles had room for.
  double bytes_per_second = 0;
  std::optional<Ceiling> ceiling = {};                     ///< What the bound allows, if it is one of the parts.
  std::optional<Ceiling> next = {};                        ///< What all else allows; no advice promises more.
  std::vector<Advice> advice = {};                         ///< At most two.
  std::optional<WhyNoStreams> streams_will_not_help = {};  ///< Empty if they might.
  std::optional<DeviceTimes> device_times = {};  ///< Not among what `describe` says; it has a line of its own.
};

/// Judges by ratios only: if all times are longer by one factor, and all ceilings lower, the bound is the same.
///
/// Threads: any.
Verdict judge(RunFigures const& figures, Ceilings const& ceilings = {});

/// At most six lines, for a person.
std::string describe(Verdict const& verdict);

}  // namespace penstock
