// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/device.hpp"
#include "tools/compare/sweep_case.hpp"

namespace penstock::cli {

/// What one flavour came to at a point.
struct ComparedSide {
  nlohmann::ordered_json last = {};  ///< The point as its last round had it.
  std::vector<double> tiles = {};    ///< A second, by round.
  std::vector<double> cpu = {};      ///< Seconds for a gigabyte, by round.
  std::string error = {};
  nlohmann::ordered_json judged = {};  ///< The point as the run had it that was made for all but throughput; or null.
  std::vector<std::string> remarks = {};  ///< On that run.

  void take(nlohmann::ordered_json const& point);
  /// In one tile; 0 if it was not measured.
  double gigabytes() const;
};

/// A point by both flavours.
struct ComparedPoint {
  nlohmann::ordered_json axes = {};
  bool own_streams = false;  ///< No default stream is in the way of its work.
  ComparedSide legacy = {};
  ComparedSide per_thread = {};

  /// Gives the per-thread side an error, if the last round has a digest of both sides and they differ.
  void expect_same_results();
  /// By both, in every round.
  bool measured() const { return error().empty() && !legacy.tiles.empty(); }
  /// Empty if none of them failed.
  std::string const& error() const { return legacy.error.empty() ? per_thread.error : legacy.error; }
  ComparedSide& by(Flavour flavour) { return flavour == Flavour::legacy ? legacy : per_thread; }
  /// Shape: of a point that was measured.
  std::vector<double> speed_ups() const;
  /// Empty if that is no axis.
  std::string in_case() const { return axes.value(case_axis, std::string()); }
  /// 0 if that is no axis.
  std::uint64_t threads() const { return axes.value("producers", std::uint64_t{0}); }
  /// "producers 4, tile 4 KiB"; empty if nothing is swept.
  std::string where() const { return place_without(""); }
  /// Likewise, but for the producers.
  std::string elsewhere() const { return place_without("producers"); }

 private:
  std::string place_without(std::string const& left_out) const;
};

/// What rounds of the same points by programs of both flavours have come to.
struct Compared {
  nlohmann::ordered_json first = {};  ///< Of the per-thread program's results, all but the points.
  std::string legacy_commit = {};     ///< Empty if unknown.
  std::vector<ComparedPoint> points = {};
  nlohmann::ordered_json legacy_timeline = {};      ///< `point` is one of `points`; or null.
  nlohmann::ordered_json per_thread_timeline = {};  ///< Likewise.

  std::uint64_t most_threads() const;
  /// What all points have, if that is no axis; 0 if it is, or was left to the machine.
  std::uint64_t threads_everywhere() const;
  std::string option(char const* name) const;
  /// Those with the most threads and with work in a default stream, of the bare case if that is there: what a claim is
  /// about.
  std::vector<ComparedPoint const*> claimed() const;
  /// Those of the framework as it is used, where the bare case is there too; otherwise like them.
  std::vector<ComparedPoint const*> as_used() const;
};

/// What it shows, in a sentence or two.
std::string sentence_on(Compared const& compared);

/// A value of an axis as its option takes it.
std::string value_text(nlohmann::ordered_json const& value);

}  // namespace penstock::cli
