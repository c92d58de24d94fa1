// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "penstock/report/advice.hpp"
#include "penstock/report/limits.hpp"

namespace penstock {

/// Where changes that may become advice are collected: what bounds next caps their gain, and what is left of it must be
/// worth saying.
class Offers {
 public:
  /// `rate`: tiles per second of the run.
  Offers(double rate, std::optional<Limit> const& next);

  /// A change of options. `reached`: tiles per second that it alone would allow.
  void option(std::string change, double reached, std::string why);
  /// A change of options, where `reached` is what all parts together allow with it, but for CPUs.
  void whole(std::string change, double reached, std::string why);
  /// A change of what the run does. `reached` as above.
  void work(std::string change, double reached, std::string why);

  /// As `advice_for` says.
  std::vector<Advice> best() const;

 private:
  void add(std::vector<Advice>& list, std::string change, double reached, std::string why) const;

  double const rate_;
  double const next_;
  std::vector<Advice> options_;
  std::vector<Advice> work_;
};

}  // namespace penstock
