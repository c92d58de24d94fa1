// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/options.hpp"
#include "penstock/profile.hpp"
#include "penstock/report.hpp"
#include "tools/command/results.hpp"
#include "tools/measure/axis.hpp"
#include "tools/measure/meter.hpp"

namespace penstock::measure {

/// How far a search is: for a bar.
struct TuneProgress {
  double seconds = 0;
  std::string now = {};  ///< The move that is next.
  std::size_t points = 0;
  std::size_t runs = 0;
  Aim sought = Aim::throughput;
  double best = 0;  ///< Of all that was seen, as TunedPoint::figures; 0 if there is none yet.
};

/// A point that was tried.
struct TunedPoint {
  Point point = {};
  std::string found_by = {};
  /// By run: bytes a second; of a search for latency the microseconds within which 99 tiles of 100 were through.
  std::vector<double> figures = {};
  double against = 1;      ///< As Attempt::against.
  std::string error = {};  ///< Why it failed; empty if it did not.
};

/// What a search over pipelines came to.
struct Tuned {
  Aim sought = Aim::throughput;
  double load_tiles_per_second = 0;  ///< At which latency was measured; 0 if it was not.
  std::vector<Axis> axes = {};
  std::vector<TunedPoint> tried = {};  ///< In order; the first are the defaults.
  std::optional<std::size_t> best = {};
  PipelineOptions options = {};    ///< Of the best, all of them as they were on this machine.
  std::uint64_t pinned_bytes = 0;  ///< The tiles of the best.
  /// What the best pins, if that is more than the bounds allow: the defaults may, since they are tried in any case.
  std::optional<std::uint64_t> beyond = {};
  std::vector<double> best_figures = {};      ///< As TunedPoint::figures, in turn with those of the defaults.
  std::vector<double> defaults_figures = {};  ///< Empty if the defaults failed.
  std::size_t combinations = 0;               ///< Points of the grid that the axes span, within the bounds.
  std::size_t runs = 0;
  double seconds = 0;
  bool all = true;            ///< As Found::all.
  std::string too_slow = {};  ///< Of a model: that this machine was in some run; or empty.

  std::optional<Verdict> verdict = {};  ///< On one more run of the best; empty if there was none.

  bool in_turn = false;  ///< Best and defaults were; otherwise there was no time for it.

  /// How many times the defaults' throughput the best has, or the best's latency the defaults; empty unless they were
  /// measured in turn.
  std::optional<Spread> gain() const;
};

}  // namespace penstock::measure

namespace penstock::cli {

/// The profile of the best point.
///
/// Shape: there is one.
Profile profile_of(BenchFacts const& facts, measure::Tuned const& tuned);

}  // namespace penstock::cli
