// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/rounds_apart.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "engine/core/too_slow.hpp"
#include "penstock/error.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/program.hpp"
#include "programs/measure/pace.hpp"

namespace penstock::cli {
namespace {

using measure::PointResult;

std::vector<std::size_t> wanting(std::vector<PointResult> const& results, ApartOptions const& options, unsigned round) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].error.empty()) continue;
    // Another round would be as late, most often.
    if (round > 1 && !results[i].judged_by_its_clock()) continue;
    if (round < options.least || measure::spread_of(results[i].tiles_per_second).relative() > options.enough)
      found.push_back(i);
  }
  return found;
}

void take(nlohmann::json const& point, PointResult& result) {
  if (!point.at("error").is_null()) {
    result.error = point.at("error").get<std::string>();
    return;
  }
  double const tiles = point.at("tiles_per_s").at("median").get<double>();
  double const gigabytes = point.at("gb_per_s").at("median").get<double>() / tiles;
  result.add(tiles, point.at("cpu_s_per_gb").at("median").get<double>() * gigabytes, true,
             too_slow_in(point.value("remarks", std::vector<std::string>())));
}

/// Throws: Error, unless it measured what it could.
void expect_results(ChildEnd const& end) {
  bool const measured = end.code == exit_ok || end.code == exit_some_failed || end.code == exit_device;
  if (measured && !end.output.empty()) return;
  throw Error(end.code == exit_bad_options ? ErrorKind::bad_argument : ErrorKind::device_refused, complaint_of(end));
}

}  // namespace

Apart rounds_apart(std::vector<measure::Point> points, ApartOptions const& options, RoundCommand const& command,
                   std::stop_token const& stop, std::function<void(unsigned round, std::size_t runs)> const& progress) {
  Apart apart;
  for (measure::Point& point : points) apart.results.push_back({.point = std::move(point)});
  for (unsigned round = 0; round < options.most && !stop.stop_requested();) {
    auto const which = wanting(apart.results, options, round);
    if (which.empty()) break;
    if (progress) progress(round, which.size());
    bool const all = which.size() == apart.results.size();
    ChildEnd const end = run_child(command(round, all ? std::span<std::size_t const>() : which), stop);
    if (stop.stop_requested()) break;
    expect_results(end);
    apart.lost = apart.lost || end.code == exit_device;
    try {
      auto const json = nlohmann::json::parse(end.output);
      auto const& found = json.at("points");
      if (found.size() != which.size())
        throw Error(ErrorKind::system, "A process measured other points than it was asked for.");
      for (std::size_t i = 0; i < which.size(); ++i) take(found[i], apart.results[which[i]]);
    } catch (nlohmann::json::exception const& problem) {
      throw Error(ErrorKind::system, unreadable_results(problem));
    }
    std::string late;
    for (PointResult const& result : apart.results) measure::keep_worst(result.too_slow, late);
    if (round == 0 && !late.empty() && options.begins_again && options.begins_again(late)) {
      for (PointResult& result : apart.results) result = {.point = std::move(result.point)};
    } else {
      ++round;
    }
  }
  return apart;
}

}  // namespace penstock::cli
