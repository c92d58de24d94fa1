// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/device.hpp"
#include "programs/compare/sweep_case.hpp"

namespace penstock::cli {

/// The results of one flavour at a point.
struct ComparedSide {
  nlohmann::ordered_json last = {};  ///< The point in the results of the last round.
  std::vector<double> tiles = {};    ///< Tiles a second, by round.
  std::vector<double> cpu = {};      ///< CPU seconds for a gigabyte, by round.
  std::string error = {};
  nlohmann::ordered_json judged = {};     ///< The point in the run for latency, ceilings and verdict; or null.
  std::vector<std::string> remarks = {};  ///< Remarks on that run.
  std::string too_slow = {};              ///< For a model: says that this machine was too slow in a round; or empty.

  void take(nlohmann::ordered_json const& point);
  void drop_rounds(std::size_t from, std::size_t count);
  /// Gigabytes of one tile; 0 if the point was not measured.
  double gigabytes() const;
};

/// A point by both flavours.
struct ComparedPoint {
  nlohmann::ordered_json axes = {};
  bool own_streams = false;  ///< Its work does not use a default stream.
  ComparedSide legacy = {};
  ComparedSide per_thread = {};

  /// Adds a round by both. Rounds in which a clock was late count only as long as there are no others.
  void take(nlohmann::ordered_json const& of_legacy, nlohmann::ordered_json const& of_per_thread);
  /// Sets an error of the per-thread side if the digests of both sides in the last round differ.
  void expect_same_results();
  /// True if both flavours measured the point in every round.
  bool measured() const { return error().empty() && !legacy.tiles.empty(); }
  /// The error of one of the two sides; empty if neither failed.
  std::string const& error() const { return legacy.error.empty() ? per_thread.error : legacy.error; }
  /// For a model: says that this machine was too slow for its clock in one of the builds; empty if it was not, or if
  /// another reason explains that there is no result.
  std::string const& late() const { return legacy.too_slow.empty() ? per_thread.too_slow : legacy.too_slow; }
  /// It was measured, and no clock was late meanwhile.
  bool judged_by_its_clock() const { return measured() && late().empty(); }
  ComparedSide& by(Flavour flavour) { return flavour == Flavour::legacy ? legacy : per_thread; }
  /// Shape: of a point that was measured.
  std::vector<double> speed_ups() const;
  /// The case of the point; empty if the case is not an axis.
  std::string in_case() const { return axes.value(case_axis, std::string()); }
  /// The producers of the point; 0 if they are not an axis.
  std::uint64_t threads() const { return axes.value("producers", std::uint64_t{0}); }
  /// "producers 4, tile 4 KiB"; empty if nothing is swept.
  std::string where() const { return place_without(""); }
  /// Place as by where(), without the producers.
  std::string elsewhere() const { return place_without("producers"); }

 private:
  std::string place_without(std::string const& left_out) const;
};

/// The results of all rounds, of the same points by the programs of both flavours.
struct Compared {
  nlohmann::ordered_json first = {};  ///< The results of the per-thread program without the points.
  std::string legacy_commit = {};     ///< Empty if unknown.
  std::vector<ComparedPoint> points = {};
  nlohmann::ordered_json legacy_timeline = {};      ///< `point` is one of `points`; or null.
  nlohmann::ordered_json per_thread_timeline = {};  ///< `point` is one of `points`; or null.

  std::uint64_t most_threads() const;
  /// The producers of all points; 0 if they are an axis, or were chosen by the pipeline.
  std::uint64_t threads_everywhere() const;
  std::string option(char const* name) const;
  /// The points that --expect applies to: those with the most threads and with work in a default stream, in the bare
  /// case if there is one.
  std::vector<ComparedPoint const*> claimed() const;
  /// The points with the most threads and with work in a default stream, in the case "as used".
  std::vector<ComparedPoint const*> as_used() const;
};

/// The points whose clock was late, as late_sentence says them.
std::string late_in(Compared const& compared);

/// The result of the comparison, in a sentence or two; points whose clock was late are left out.
std::string sentence_on(Compared const& compared);

/// A value of an axis in the form of its option.
std::string value_text(nlohmann::ordered_json const& value);

}  // namespace penstock::cli
