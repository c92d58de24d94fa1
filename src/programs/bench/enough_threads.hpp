// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "programs/command/results.hpp"
#include "programs/measure/figures.hpp"

namespace penstock::cli {

/// The answer of a sweep to the question how many threads.
struct EnoughThreads {
  unsigned count = 0;          ///< The fewest with nearly the most throughput.
  double of_most = 1;          ///< Their throughput, as a part of the most.
  bool more_may_help = false;  ///< They are the most that were measured, and clearly faster than the next fewer.
  bool interrupted = false;    ///< The sweep ended before all points were measured.
  /// Producers that would reach what the device does alone, if each of them did as much as one of `count`: reckoned,
  /// not measured. Empty unless more may help, filling is the bound, the device is a GPU, and its ceilings are known.
  std::optional<unsigned> reckoned = {};
  std::string sentence = {};  ///< All that in words, with the values of other swept axes.
};

/// The answers of a sweep of one number of threads: one for the same values of all other axes, with two points or more
/// that were measured and judged. `facts` has the CPUs of the machine, which may be a modelled one.
std::vector<EnoughThreads> enough_threads(BenchFacts const& facts, std::span<measure::Axis const> axes,
                                          std::span<measure::PointResult const> results);

}  // namespace penstock::cli
