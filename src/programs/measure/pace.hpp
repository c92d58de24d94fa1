// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::measure {

/// Beginning of the name of a model of a GPU.
inline constexpr std::string_view model_prefix = "model:";
/// Threads wake up late by up to some 100 us, which is little of a call of the driver from this factor on.
inline constexpr unsigned least_factor = 20;

/// The names of `wish`, a value of `--device`.
std::vector<std::string> names_in(std::string_view wish);
/// True if it names models of GPUs and says no factor for their clock.
bool leaves_factor_open(std::string_view wish);

/// The factor that it says, or the usual one.
///
/// Throws: as model_of.
unsigned factor_of(std::string_view wish);

/// A run of a point of a modelled GPU on a clock that is not slower: what this machine is able to do.
struct PaceProbe {
  double tiles_per_second = 0;   ///< Those that came through.
  double most_per_second = 0;    ///< Those that the model's link could carry, or that its driver could be asked for.
  double busy_part_of_cpus = 0;  ///< The part of this process's CPUs that was in use, also by other processes,
  double part_of_others = 0;     ///< and the part that only these used.
};
/// The factor of a clock on which the model does what was probed and this machine is not late: from least_factor on, in
/// steps of 10, above 200 of 50.
unsigned factor_for(PaceProbe const& probe);

/// Keeps in `kept` the remark on a late clock that advises the larger factor. Each may be empty.
void keep_worst(std::string const& late, std::string& kept);
/// The one of these that advises the largest, out of the results of a sweep; empty if no clock was late.
///
/// Throws: nlohmann::json::exception, if they are not what bench prints with --json.
std::string lateness_in(std::string const& results);

/// Runs of a sweep on models.
struct SweepToCome {
  std::size_t points = 1;
  unsigned runs = 1;          ///< Runs of each point that are its throughput.
  unsigned more_runs = 0;     ///< Other runs of each: for latency, and for its verdict.
  unsigned rounds_alone = 0;  ///< Rounds in which parts are measured alone.
  unsigned milliseconds = 0;  ///< The window.
  unsigned factor = least_factor;
};
/// Units: seconds of this machine.
double expected_seconds(SweepToCome const& sweep);
/// How long a sweep may take in all, if its factor turns out to be too small and is raised.
///
/// Units: seconds of this machine.
double most_seconds(SweepToCome const& sweep);
/// 1.75 times the factor that a probe chose for the sweep, or the largest with which that takes no more than two
/// minutes, but at least six times the least: where other processes keep the CPUs busy, a probe asks for hundreds.
unsigned affordable_factor(SweepToCome sweep, unsigned chosen);
/// The factor for the sweep after its clock was late: the one that was `advised`, or the largest for which `seconds`
/// are enough. Empty if that is hardly larger than its own.
std::optional<unsigned> raised_factor(SweepToCome const& sweep, unsigned advised, double seconds);
/// "9 s".
std::string about_text(double seconds);
/// Sentences for the user: how long a sweep takes and, if the factor was `chosen` for this machine, which it is and how
/// long the sweep may take.
std::string pace_text(SweepToCome const& sweep, bool chosen);
/// The sentence on a factor that was chosen.
std::string factor_text(unsigned factor);
/// Such sentences on what takes that long, on a factor that was chosen.
std::string pace_text(unsigned factor, double seconds);

}  // namespace penstock::measure
