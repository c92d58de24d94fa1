// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::cli {

/// The same sweep by programs of both flavours in turn, and what it shows.
class Comparison {
 public:
  Comparison();
  Comparison(Comparison const&) = delete;
  Comparison& operator=(Comparison const&) = delete;
  ~Comparison();

  /// Takes a round: the results of both, as docs/results.md has them, over the same axes as in the rounds before.
  ///
  /// Throws: Error of kind system, if these are no results, or of something else.
  void add(std::string_view legacy, std::string_view per_thread);
  /// True if every point was measured in both flavours.
  bool all_measured() const;
  /// Which were not, in a sentence; empty if all were.
  std::string what_failed() const;
  /// True if with the most threads the median speed-up of every point is at least that. Points whose work names streams
  /// of its own are not asked; a claim holds neither where one of the others failed nor where there are none.
  bool holds(double expected) const;
  /// Where it shows most: the axes and values, as the command has them, of the point with the greatest speed-up. Empty
  /// if no point was measured by both.
  std::optional<std::map<std::string, std::string>> plainest() const;
  /// What it shows, in a sentence or two.
  std::string sentence() const;
  /// A table for people, and the sentence.
  std::string as_text() const;
  /// As docs/results.md.
  std::string as_json(std::string const& date, std::string const& command) const;
  std::string as_csv() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock::cli
