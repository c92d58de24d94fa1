// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/operate/operation.hpp"
#include "penstock/options.hpp"
#include "penstock/report.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/axis.hpp"
#include "programs/measure/meter.hpp"

namespace penstock::measure {

/// Progress of a search, for a bar.
struct TuneProgress {
  double seconds = 0;
  std::string now = {};  ///< The move that is next.
  std::size_t points = 0;
  std::size_t runs = 0;
  Aim sought = Aim::throughput;
  double best = 0;  ///< Best figure so far, in the unit of TunedPoint::figures; 0 if there is none yet.
};

/// A point that was tried.
struct TunedPoint {
  Point point = {};
  std::string found_by = {};
  /// One value for each run: bytes a second; in a search for latency the microseconds within which 99 tiles of 100 were
  /// through.
  std::vector<double> figures = {};
  double against = 1;      ///< The same as Attempt::against.
  std::string error = {};  ///< Reason why it failed; empty if it did not.
};

/// Result of a search over pipelines.
struct Tuned {
  Aim sought = Aim::throughput;
  double load_tiles_per_second = 0;  ///< Load at which latency was measured; 0 if it was not.
  std::vector<Axis> axes = {};
  std::vector<TunedPoint> tried = {};  ///< Points in the order in which they were tried; the defaults come first.
  std::optional<std::size_t> best = {};
  PipelineOptions options = {};    ///< All options of the best, as they were on this machine.
  std::uint64_t pinned_bytes = 0;  ///< Bytes of the tiles of the best.
  /// Bytes that the best pins, if that is more than the bounds allow: the defaults may, since they are tried in any
  /// case.
  std::optional<std::uint64_t> beyond = {};
  std::vector<double> best_figures = {};      ///< TunedPoint::figures of the best, measured alternately with those of
                                              ///< the defaults.
  std::vector<double> defaults_figures = {};  ///< Empty if the defaults failed.
  std::size_t combinations = 0;               ///< Points of the grid that the axes span, within the bounds.
  std::size_t runs = 0;
  double seconds = 0;
  bool all = true;            ///< The same as Found::all.
  std::string too_slow = {};  ///< For a model: says that this machine was too slow in some run; or empty.

  std::optional<Verdict> verdict = {};  ///< Verdict on one more run of the best; empty if there was none.

  bool in_turn = false;  ///< Best and defaults were measured alternately; false if there was no time for it.

  /// Throughput of the best divided by that of the defaults, or latency of the defaults divided by that of the best;
  /// empty unless they were measured alternately.
  std::optional<Spread> gain() const;
};

}  // namespace penstock::measure

namespace penstock::cli {

/// The profile of the best point.
///
/// Shape: there is one.
Profile profile_of(BenchFacts const& facts, measure::Tuned const& tuned);

}  // namespace penstock::cli
