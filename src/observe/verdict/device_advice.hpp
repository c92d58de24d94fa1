// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "observe/verdict/find_bound.hpp"
#include "observe/verdict/limits.hpp"
#include "observe/verdict/measured_run.hpp"
#include "observe/verdict/utilisation.hpp"

namespace penstock {

/// The change that makes stream 0 each thread's own.
inline constexpr char const* per_thread_instead = "penstock instead of penstock-legacy";

inline constexpr double nearly_all = 0.8;  ///< Limit as in find_bound.
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// A run with a known bottleneck, and the offers against it.
struct Judged {
  Finding const& finding;
  RunFigures const& figures;
  Ceilings const& ceilings;
  Utilisation const& use;
  Offers& offers;

  /// The part that is the bottleneck; null if it is none of the parts.
  PartUse const* part() const { return use.find(finding.bound); }
  /// Text on the use of the part that is the bottleneck: "in use 97 % of the time", or "at 97 % of what they reach
  /// alone".
  std::string used() const;
  /// Number of additional threads: as many as there are, or as CPUs are free.
  unsigned more(unsigned threads) const;
  /// Offers more lanes, with which it would reach this throughput; none if all of them share a stream.
  void more_lanes(double reached, std::string why) const;
};

/// Offers changes for the case that copies are the bottleneck.
void advise_on_copies(Judged const& run);
/// Offers changes for the case that kernels are the bottleneck.
void advise_on_kernels(Judged const& run);
/// Offers changes for the case that work of the device is serialised.
void advise_on_turns(Judged const& run);
/// Offers work in host memory, if that is why the device copies.
void advise_to_map(Judged const& run);

}  // namespace penstock
