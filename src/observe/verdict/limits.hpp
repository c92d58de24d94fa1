// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "observe/verdict/find_bound.hpp"
#include "observe/verdict/measured_run.hpp"
#include "observe/verdict/utilisation.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// A throughput, and the name of what it limits.
struct Limit {
  double tiles_per_second = 0;
  std::string of;
};

/// The subject of a part's work: "uploads", "the source" and so on.
std::string part_text(Bound part);

/// Limit of the bottleneck itself: the ceiling that was measured for it, or its throughput without pauses. Empty if it
/// is none of the parts.
std::optional<Limit> own_limit(Finding const& finding, Utilisation const& use);

/// Limit of all other parts, once the bottleneck is removed; empty if nothing is known of them. If one direction of the
/// link is the bottleneck, the other direction is not included: a change that relieves one usually relieves both.
std::optional<Limit> next_limit(Finding const& finding, Utilisation const& use);

/// An option with its value: "--lanes 4".
std::string option_text(char const* name, std::uint64_t value);

/// Number of tiles of a pipeline like the run's with this number of slots per lane and this batch.
std::uint64_t tiles_for(RunFigures const& figures, std::uint64_t slots, unsigned batch);

/// Options for slots: "--slots 8 --tiles 25", with tiles only if the run had fewer.
std::string slots_text(RunFigures const& figures, std::uint64_t slots, unsigned batch);

/// Options for a batch: "--batch 32 --slots 128 --tiles 157", without those that the run has already.
std::string batch_text(RunFigures const& figures, unsigned batch);

/// Collects changes that may become advice. A promised gain is limited by all known bounds: the effect of the change
/// itself, the next bottleneck, and the CPUs left; and it must be large enough to be reported.
class Offers {
 public:
  explicit Offers(Finding const& finding, Utilisation const& use);

  /// Offers a change of options. `reached`: tiles per second that it alone would allow at most. A pipeline comes close
  /// to its bounds without reaching them, so most of the possible gain is promised.
  void option(std::string change, double reached, std::string why);
  /// Offers a change of options after which tiles take less CPU time, by `saved` seconds in the whole run. `reached` is
  /// the limit of all parts together with it, except CPUs.
  void whole(std::string change, double reached, double saved, std::string why);
  /// Offers a change of the work. `reached` as in `option`; all of it is promised.
  void work(std::string change, double reached, std::string why);

  /// The best changes, as `advice_for` describes.
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
