// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "course/experiment.hpp"
#include "penstock/flavour.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// What `penstock lab` has seen so far, as data: the lines of its figures, and the results for its page.
///
/// Threads: one.
class LabRecord {
 public:
  explicit LabRecord(BenchFacts facts) : facts_(std::move(facts)) {}

  /// Takes an experiment, its observation, and both as `as_json` has them.
  ///
  /// Returns: the lines of its figures with commas, for the first experiment with the names of the columns.
  std::string add(lab::Experiment const& experiment, lab::Observation const& seen, std::string const& object);
  /// The results for write_page; `summary` is a sentence on all of them.
  std::string results(std::string const& summary) const;

 private:
  BenchFacts facts_;
  nlohmann::ordered_json experiments_ = nlohmann::ordered_json::array();
  std::vector<nlohmann::ordered_json> rows_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
