// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/device.hpp"
#include "programs/command/claim.hpp"

namespace penstock::cli {

struct Compared;

/// The same sweep by programs of both flavours alternately, and its result.
class Comparison {
 public:
  /// `program` is the name of the per-thread program.
  explicit Comparison(std::string program = "penstock");
  Comparison(Comparison const&) = delete;
  Comparison& operator=(Comparison const&) = delete;
  ~Comparison();

  /// Takes a round: the results of both, in the form of docs/results.md, over the same axes as in the rounds before.
  ///
  /// Throws: Error of kind system, if these are no results, or of something else, or of programs of two builds: other
  /// versions, other commits where both are known, or not the flavours that they should be.
  void add(std::string_view legacy, std::string_view per_thread);
  /// A sentence, if only one program knows its commit, so that both may be of different builds; otherwise empty.
  ///
  /// Shape: after a round.
  std::string doubt() const;
  /// True if every point was measured in both flavours.
  bool all_measured() const;
  /// A sentence on the points that were not; empty if all were.
  std::string what_failed() const;
  /// True if with the most threads the claim holds of the median speed-up of every point. Points with work that
  /// names its own streams do not count; a claim does not hold if one of the others failed, or if there are none.
  bool holds(Claim const& claim) const;
  /// Takes the results of one more run of the points `which`, in the order of the rounds' points: latency, ceilings,
  /// verdicts and a timeline, which replaces any before, but not the throughput. A point that failed in it gets a
  /// remark.
  ///
  /// Throws: as add.
  void judge(Flavour by, std::string_view results, std::span<std::size_t const> which);
  /// Adds this reason why these results are missing.
  void remark(Flavour by, std::string const& why, std::span<std::size_t const> which);
  /// Number of points.
  std::size_t points() const;
  /// The points that were measured by both.
  std::vector<std::size_t> measured() const;
  /// Index of the point with the greatest speed-up. Empty if no point was measured by both.
  std::optional<std::size_t> plainest() const;
  /// The axes and values of a point, in the form of the command line.
  std::map<std::string, std::string> values_of(std::size_t point) const;
  /// The result, in a sentence or two.
  std::string sentence() const;
  /// A table for people, and the sentence.
  std::string as_text() const;
  /// JSON as docs/results.md describes it.
  std::string as_json(std::string const& date, std::string const& command) const;
  /// A line of names, and one for each point, as docs/results.md; texts with a comma or a quote are quoted.
  std::string as_csv(std::string const& date) const;

 private:
  std::string const program_;
  std::unique_ptr<Compared> compared_;
};

}  // namespace penstock::cli
