// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/report.hpp"
#include "penstock/report/find_bound.hpp"
#include "penstock/report/measured_run.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// A throughput, and what it is the limit of.
struct Limit {
  double tiles_per_second = 0;
  std::string of;
};

/// "uploads", "the source" and so on: what does the part's work.
std::string part_text(Bound part);

/// What the bound itself allows: the ceiling that was measured for it, or what it would come to without its pauses.
/// Empty if it is none of the parts.
std::optional<Limit> own_limit(Finding const& finding, Utilisation const& use);

/// What all else allows once the bound is lifted; empty if nothing is known of anything else. If the link is the bound,
/// one way, all else is but the link: what relieves one way mostly relieves both.
std::optional<Limit> next_limit(Finding const& finding, Utilisation const& use);

/// "--lanes 4".
std::string option_text(char const* name, std::uint64_t value);

/// How many tiles a pipeline like the run's takes with so many slots per lane and such batches.
std::uint64_t tiles_for(RunFigures const& figures, std::uint64_t slots, unsigned batch);

/// "--slots 8 --tiles 25", with tiles only if the run had fewer.
std::string slots_text(RunFigures const& figures, std::uint64_t slots, unsigned batch);

/// "--batch 32 --slots 128 --tiles 157", of these what the run has not.
std::string batch_text(RunFigures const& figures, unsigned batch);

/// Where changes that may become advice are collected. What is promised is no more than any bound allows that is known:
/// what the change itself can do at most, what bounds next, what CPUs are left; and it must be worth saying.
class Offers {
 public:
  explicit Offers(Finding const& finding, Utilisation const& use);

  /// A change of options. `reached`: tiles per second that it alone would allow at most. A pipeline comes near to its
  /// bounds and not up to them, so most of what they leave is promised.
  void option(std::string change, double reached, std::string why);
  /// A change of options after which a tile takes less of the CPUs, by `saved` seconds in the whole run. `reached` is
  /// what all parts together allow with it, but for CPUs.
  void whole(std::string change, double reached, double saved, std::string why);
  /// A change of what the run does. `reached` as in `option`; all of it is promised.
  void work(std::string change, double reached, std::string why);

  /// As `advice_for` says.
  std::vector<Advice> best() const;

 private:
  void add(std::vector<Advice>& list, std::string change, double gain, std::string why) const;
  double most_of(double reached) const;

  Utilisation const& use_;
  double const next_;
  std::vector<Advice> options_;
  std::vector<Advice> work_;
};

}  // namespace penstock
