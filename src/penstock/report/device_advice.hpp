// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "penstock/report/find_bound.hpp"
#include "penstock/report/limits.hpp"
#include "penstock/report/measured_run.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// The change by which stream 0 is each thread's own.
inline constexpr char const* per_thread_instead = "penstock instead of penstock-legacy";

inline constexpr double nearly_all = 0.8;  ///< As find_bound has it.
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// A run that is known to have been bound by something, and what is to be offered against that.
struct Judged {
  Finding const& finding;
  RunFigures const& figures;
  Ceilings const& ceilings;
  Utilisation const& use;
  Offers& offers;

  /// The part that is the bound; null if none is.
  PartUse const* part() const { return use.find(finding.bound); }
  /// "in use 97 % of the time", or "at 97 % of what they reach alone", of a part that is the bound.
  std::string used() const;
  /// As many threads more as there are, or as CPUs are free.
  unsigned more(unsigned threads) const;
  /// Offers more lanes, with which it would reach so much; none if all of them share a stream.
  void more_lanes(double reached, std::string why) const;
};

/// Offers what helps if copies are the bound.
void advise_on_copies(Judged const& run);
/// Offers what helps if kernels are.
void advise_on_kernels(Judged const& run);
/// Offers what helps if work of the device takes turns.
void advise_on_turns(Judged const& run);
/// Offers to work in the host's memory, if that is why the device copies.
void advise_to_map(Judged const& run);

}  // namespace penstock
