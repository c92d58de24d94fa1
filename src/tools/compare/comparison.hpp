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

namespace penstock::cli {

struct Compared;

/// The same sweep by programs of both flavours in turn, and what it shows.
class Comparison {
 public:
  /// `program` is the name of the per-thread one.
  explicit Comparison(std::string program = "penstock");
  Comparison(Comparison const&) = delete;
  Comparison& operator=(Comparison const&) = delete;
  ~Comparison();

  /// Takes a round: the results of both, as docs/results.md has them, over the same axes as in the rounds before.
  ///
  /// Throws: Error of kind system, if these are no results, or of something else, or of programs of two builds: other
  /// versions, other commits where both are known, or not the flavours that they should be.
  void add(std::string_view legacy, std::string_view per_thread);
  /// A sentence, if only one program knows of which commit it is, so that it is not known whether both are of one
  /// build; otherwise empty.
  ///
  /// Shape: after a round.
  std::string doubt() const;
  /// True if every point was measured in both flavours.
  bool all_measured() const;
  /// A sentence on the points that were not; empty if all were.
  std::string what_failed() const;
  /// True if with the most threads the median speed-up of every point is at least that. Points with work that names
  /// streams of its own do not count; a claim holds neither where one of the others failed nor where there are none.
  bool holds(double expected) const;
  /// Takes what a run more of the points `which` came to, in the order of the rounds' points: its latency, ceilings and
  /// verdicts, and its timeline in the place of any before, but not its throughput. A point that failed in it gets a
  /// remark.
  ///
  /// Throws: as add.
  void judge(Flavour by, std::string_view results, std::span<std::size_t const> which);
  /// These could not be had, for this reason.
  void remark(Flavour by, std::string const& why, std::span<std::size_t const> which);
  /// Number of points.
  std::size_t points() const;
  /// The points that were measured by both.
  std::vector<std::size_t> measured() const;
  /// Index of the point with the greatest speed-up. Empty if no point was measured by both.
  std::optional<std::size_t> plainest() const;
  /// The axes and values of a point, as the command has them.
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
