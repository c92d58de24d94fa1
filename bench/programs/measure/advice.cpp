// SPDX-License-Identifier: Apache-2.0
// Is a verdict's advice worth what it promises? Budget: pipelines that starve for different reasons gain what they were
// promised, give or take a third of it, or nothing is advised; and none loses. With --programs these are pipelines of a
// program whose parts wait for something outside.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "follow.hpp"
#include "waiting.hpp"
#include <CLI/CLI.hpp>

#include "engine/machine/topology.hpp"
#include "penstock/error.hpp"
#include "penstock/models/devices.hpp"
#include "programs/measure/meter.hpp"
#include "programs/measure/sweep.hpp"

namespace {

using namespace penstock;
using measure::PointResult;
using measure::Setting;

constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

struct Starved {
  char const* name;
  Setting setting;
};

std::vector<Starved> starved_pipelines(Flavour flavour) {
  std::vector<Starved> all{
      {"one producer",
       {.pipeline = {.producers = 1}, .values = {{"work", "copy"}, {"fill", "memcpy"}, {"direction", "in"}}}},
      {"one slot", {.pipeline = {.lanes = 1, .tuning = {.slots = 1}}}},
      {"two tiles in all", {.pipeline = {.producers = 1, .lanes = 1, .tuning = {.tiles = 2, .slots = 8}}}},
      {"one stream", {.pipeline = {.lanes = 1, .tuning = {.shape = LaneShape::single}}, .tile = 4 * mebibyte}},
      {"small tiles", {.pipeline = {.lanes = 1}, .tile = 4 * kibibyte}},
      {"small tiles, each alone", {.pipeline = {.lanes = 1, .tuning = {.batch = 1}}, .tile = 16 * kibibyte}},
      {"tiles each alone", {.pipeline = {.lanes = 4, .tuning = {.batch = 1}}, .tile = 256 * kibibyte}},
      {"kernels of one block in turn",
       {.pipeline = {.lanes = 1}, .tile = 64 * kibibyte, .values = {{"work", "busy:200us"}}}},
      {"a sleeping lane",
       {.pipeline = {.lanes = 1, .tuning = {.slots = 2, .signal = SignalKind::event_block}}, .tile = 64 * kibibyte}}};
  if (flavour == Flavour::legacy) {
    all.push_back(
        {"one stream for all lanes",
         {.pipeline = {.producers = 4, .lanes = 4}, .tile = 64 * kibibyte, .values = {{"work", "busy:100us"}}}});
  }
  return all;
}

double bytes_per_second(PointResult const& result) {
  return measure::spread_of(result.tiles_per_second).median * static_cast<double>(result.point.setting.tile);
}

/// Result of following one piece of advice.
struct Followed {
  Advice advice;
  double gained = 1;
  double least = 1, most = 1;  ///< Extremes over pairs of runs of one round.

  /// 1 if it gained as much as promised, 0 if nothing.
  double kept() const { return (gained - 1) / (advice.gain - 1); }
  bool holds() const { return std::abs(kept() - 1) <= 1.0 / 3; }
  /// True if following it cost more than noise does.
  bool lost() const { return gained < 0.95; }
};

class Trials {
 public:
  Trials(Device& device, measure::SweepOptions options) : device_(device), options_(std::move(options)) {}

  PointResult judged(Setting const& setting) {
    options_.judged = options_.ceilings = true;
    return measured({setting}).front();
  }
  std::optional<Followed> followed(PointResult const& judged) {
    for (Advice const& advice : judged.verdict->advice) {
      auto const after = measure::follow(judged.point.setting, advice);
      if (!after) continue;
      options_.judged = options_.ceilings = false;
      auto const both = measured({judged.point.setting, *after});
      for (PointResult const& one : both) {
        if (!one.error.empty()) throw Error(ErrorKind::device_refused, one.error);
      }
      Followed result{.advice = advice, .gained = bytes_per_second(both[1]) / bytes_per_second(both[0])};
      double const size = static_cast<double>(after->tile) / static_cast<double>(judged.point.setting.tile);
      std::vector<double> pairs;
      std::size_t const rounds = std::min(both[0].tiles_per_second.size(), both[1].tiles_per_second.size());
      for (std::size_t i = 0; i < rounds; ++i) {
        pairs.push_back(size * both[1].tiles_per_second[i] / both[0].tiles_per_second[i]);
      }
      auto const spread = measure::spread_of(pairs);
      result.least = spread.least;
      result.most = spread.most;
      return result;
    }
    return std::nullopt;
  }

 private:
  std::vector<PointResult> measured(std::vector<Setting> const& settings) {
    std::vector<measure::Point> points;
    for (Setting const& setting : settings) points.push_back({.setting = setting});
    return sweep(device_, std::move(points), options_, {});
  }

  Device& device_;
  measure::SweepOptions options_;
};

struct Kept {
  unsigned held = 0, tried = 0, lost = 0;
};

void print_line(char const* name, std::string const& bound, Followed const& after) {
  std::printf("%-32s %-20s %-36s %9.2f %8.2f %7.2f %7.2f %6.2f\n", name, bound.c_str(), after.advice.change.c_str(),
              after.advice.gain, after.gained, after.least, after.most, after.kept());
}

/// Pipelines of programs that embed penstock.
Kept follow_programs(Device& device, unsigned rounds, unsigned milliseconds, bool verdicts) {
  Kept kept;
  for (measure::WaitingPipeline const& pipeline : measure::waiting_pipelines()) {
    auto const followed = measure::follow_as_a_program(device, pipeline, rounds, milliseconds);
    if (verdicts) std::printf("\n%s\n", followed.verdict.c_str());
    if (followed.gained.empty()) {
      std::printf("%-32s %-20s no option helps\n", pipeline.name, followed.bound.c_str());
      continue;
    }
    auto const spread = measure::spread_of(followed.gained);
    Followed after{.advice = {.change = followed.change, .gain = followed.promised, .why = {}},
                   .gained = spread.median,
                   .least = spread.least,
                   .most = spread.most};
    print_line(pipeline.name, followed.bound, after);
    ++kept.tried;
    if (after.holds()) ++kept.held;
    if (after.lost()) ++kept.lost;
  }
  return kept;
}

}  // namespace

int main(int count, char** arguments) try {
  CLI::App app("Follows the advice of verdicts, and says what that gained.");
  std::string name = "auto";
  unsigned rounds = 5, milliseconds = 200;
  app.add_option("--device", name, "auto, cpu, cuda or cuda:N");
  app.add_option("--rounds", rounds, "Runs before and after, in turn. Default: 5")->check(CLI::Range(1U, 100U));
  app.add_option("--window", milliseconds, "Milliseconds that count of each run. Default: 200")
      ->check(CLI::Range(10U, 60'000U));
  bool verdicts = false;
  app.add_flag("--verdicts", verdicts, "Also print all that each verdict says");
  unsigned expected = 0;
  app.add_option("--expect", expected,
                 "Exit with 1 unless so many gain what they were promised, and none loses. Default: 0");
  bool programs = false;
  app.add_flag("--programs", programs, "Follow pipelines of programs that wait, on the device, and nothing else");
  CLI11_PARSE(app, count, arguments);

  auto const device = open_device(name);
  measure::SweepOptions options;
  options.trial.window = std::chrono::milliseconds(milliseconds);
  options.least_repeats = options.most_repeats = rounds;
  options.load = 0;
  options.cpus = static_cast<unsigned>(Topology::detect().cpus().size());
  Trials trials(*device, options);
  std::printf("%s, %s default streams\n\n%-32s %-20s %-36s %9s %8s %7s %7s %6s\n", device->info().name.c_str(),
              std::string(flavour_name(device->flavour())).c_str(), "starved by", "bound by", "followed", "promised",
              "gained", "least", "most", "kept");
  Kept kept = programs ? follow_programs(*device, rounds, milliseconds, verdicts) : Kept{};
  auto const starving = programs ? std::vector<Starved>() : starved_pipelines(device->flavour());
  for (Starved const& starved : starving) {
    PointResult const before = trials.judged(starved.setting);
    if (!before.error.empty()) throw Error(ErrorKind::device_refused, before.error);
    if (!before.verdict) continue;
    std::string const bound(bound_name(before.verdict->bound));
    if (verdicts) std::printf("\n%s\n", describe(*before.verdict).c_str());
    auto const after = trials.followed(before);
    if (!after) {
      std::printf("%-32s %-20s no option helps\n", starved.name, bound.c_str());
      continue;
    }
    ++kept.tried;
    if (after->holds()) ++kept.held;
    if (after->lost()) ++kept.lost;
    print_line(starved.name, bound, *after);
  }
  std::printf("\nkept: part of the promised gain that there was. %u of %u within a third of it.\n", kept.held,
              kept.tried);
  if (kept.lost > 0) std::printf("%u lost by it.\n", kept.lost);
  if (kept.held >= expected && (expected == 0 || kept.lost == 0)) return 0;
  std::fprintf(stderr, "penstock_advice: --expect %u does not hold.\n", expected);
  return 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "penstock_advice: %s\n", error.what());
  return 4;
}
