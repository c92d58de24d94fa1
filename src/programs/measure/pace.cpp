// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/pace.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "engine/core/too_slow.hpp"
#include "models/models.hpp"

namespace penstock::measure {
namespace {

/// A machine that needs this part of its CPUs is seldom late.
constexpr double bearable_load = 0.3;
/// Above this part the CPUs may be what bounds the probe.
constexpr double saturated = 0.6;
/// Where other processes use all CPUs a thread waits for one for milliseconds, instead of some 100 us.
constexpr double waits_for_others = 5;

/// The largest factor, in steps of 10, with which the sweep takes no longer; it may be 0 or less.
double factor_within(SweepToCome sweep, double seconds) {
  constexpr double step = 10;
  sweep.factor = 0;
  double const always = expected_seconds(sweep);
  sweep.factor = 1;
  return step * std::floor((seconds - always) / (expected_seconds(sweep) - always) / step);
}

}  // namespace

std::vector<std::string> names_in(std::string_view wish) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= wish.size();) {
    std::size_t const comma = std::min(wish.find(',', from), wish.size());
    names.emplace_back(wish.substr(from, comma - from));
    from = comma + 1;
  }
  return names;
}

bool leaves_factor_open(std::string_view wish) {
  auto const open = [](std::string const& name) {
    if (!name.starts_with(model_prefix)) return false;
    std::size_t const at = name.rfind('@');
    return at == std::string::npos || at + 1 == name.size() ||
           name.find_first_not_of("0123456789", at + 1) != std::string::npos;
  };
  return std::ranges::all_of(names_in(wish), open);
}

unsigned factor_of(std::string_view wish) {
  return model_of(std::string_view(names_in(wish).front()).substr(model_prefix.size())).slower;
}

unsigned factor_for(PaceProbe const& probe) {
  // Where CPUs are free the model is what bounds it, or the sleep of a thread.
  bool const free = probe.busy_part_of_cpus < saturated;
  // Where no tile came through, it is slower than any that could be measured.
  // What others used of the CPUs in the meantime is not the model's need.
  double const own = 1 - std::min(probe.part_of_others, 1.0);
  double const part =
      free ? probe.busy_part_of_cpus : own * probe.most_per_second / std::max(probe.tiles_per_second, 1e-3);
  double const least = least_factor * (1 + waits_for_others * probe.part_of_others);
  double const factor = std::clamp(part / bearable_load, least, 10'000.0);
  double const step = factor <= 200 ? 10 : 50;
  return static_cast<unsigned>(step * std::ceil(factor / step));
}

void keep_worst(std::string const& late, std::string& kept) {
  if (!late.empty() && (kept.empty() || advised_factor(late) > advised_factor(kept))) kept = late;
}

std::string lateness_in(std::string const& results) {
  std::string latest;
  auto const json = nlohmann::json::parse(results);
  for (nlohmann::json const& point : json.at("points"))
    keep_worst(too_slow_in(point.value("remarks", std::vector<std::string>())), latest);
  return latest;
}

double expected_seconds(SweepToCome const& sweep) {
  // Seen on two idle CPUs with factors of 80 to 140. A run and its process take half a second, and two windows with the
  // warm-up, the tiles on their way at its end, and what threads prepare. The run at half the load and the one that is
  // judged take 2.3, and a round of parts alone four. Some of these are late, and are made again: one of six or seven.
  constexpr double start = 0.45, run = 2, more_run = 2.3, alone = 4, again = 1.15;
  double const window = sweep.milliseconds * 1e-3 * sweep.factor;
  double const of_point = sweep.runs * (start + run * window) + again * sweep.more_runs * (start + more_run * window) +
                          again * sweep.rounds_alone * alone * window;
  return static_cast<double>(sweep.points) * of_point;
}

double most_seconds(SweepToCome const& sweep) {
  // A sweep of one point is over then on a factor of four times the least.
  constexpr double at_least = 60, times = 2;
  return std::max(at_least, times * expected_seconds(sweep));
}

unsigned affordable_factor(SweepToCome sweep, unsigned chosen) {
  constexpr unsigned always_affordable = 6 * least_factor;
  constexpr double seconds = 120;
  // A sweep also records, and measures parts alone. With the factor of the probe 6 of 6 default sweeps on two idle CPUs
  // were late, and ended on 1.9 to 2.2 times as much. On two that compilers kept busy one began again with 100, and
  // five did not with 105 to 160.
  constexpr double margin = 1.75;
  double const wanted = chosen <= least_factor ? chosen : margin * chosen;
  return static_cast<unsigned>(
      std::min<double>(wanted, std::max<double>(always_affordable, factor_within(sweep, seconds))));
}

std::optional<unsigned> raised_factor(SweepToCome const& sweep, unsigned advised, double seconds) {
  // A clock that is hardly slower would be as late.
  constexpr double worth_while = 1.25;
  double const factor = std::min<double>(advised, factor_within(sweep, seconds));
  if (factor < worth_while * sweep.factor) return std::nullopt;
  return static_cast<unsigned>(factor);
}

std::string about_text(double seconds) {
  return seconds < 99.5 ? std::to_string(std::max(1L, std::lround(seconds))) + " s"
                        : std::to_string(std::lround(seconds / 60)) + " min";
}

std::string pace_text(SweepToCome const& sweep, bool chosen) {
  double const seconds = expected_seconds(sweep);
  if (!chosen) return "This takes about " + about_text(seconds) + ".";
  std::string text = pace_text(sweep.factor, seconds);
  text.pop_back();
  return text + ", or up to " + about_text(most_seconds(sweep)) + " if that turns out to be too fast for it.";
}

std::string factor_text(unsigned factor) {
  return "By a probe of this machine the clock of the model is " + std::to_string(factor) +
         " times slower; --slower N takes another factor.";
}

std::string pace_text(unsigned factor, double seconds) {
  return factor_text(factor) + " This takes about " + about_text(seconds) + ".";
}

}  // namespace penstock::measure
