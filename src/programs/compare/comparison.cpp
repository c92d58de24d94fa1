// SPDX-License-Identifier: Apache-2.0
#include "programs/compare/comparison.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "observe/verdict/passages.hpp"
#include "penstock/error.hpp"
#include "penstock/observe/recording.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/results.hpp"
#include "programs/compare/compared.hpp"
#include "programs/compare/comparison_output.hpp"
#include "programs/measure/meter.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A text of the results' `penstock`; empty if it is null.
std::string build_text(Json const& results, char const* name) {
  Json const& value = results.at("penstock").at(name);
  return value.is_null() ? "" : value.get<std::string>();
}

/// Throws: Error, unless these are of both flavours of one build, as far as they say.
void expect_one_build(Json const& legacy, Json const& per_thread, std::string const& program) {
  for (auto const& [results, flavour] : {std::pair(&legacy, Flavour::legacy), {&per_thread, Flavour::per_thread}}) {
    std::string const said = build_text(*results, "flavour");
    if (said == flavour_name(flavour)) continue;
    std::string differs = "What should be the ";
    differs.append(flavour_name(flavour)).append(" program says it is ").append(said).append(": put ");
    differs.append(program).append(" and ").append(program).append("-legacy of one build into one folder.");
    throw Error(ErrorKind::system, differs);
  }
  for (char const* name : {"version", "commit"}) {
    std::string const old = build_text(legacy, name), fresh = build_text(per_thread, name);
    if (old == fresh || old.empty() || fresh.empty()) continue;
    std::string differs = program + "-legacy is of ";
    differs.append(name).append(" ").append(old).append(", ").append(program).append(" of ").append(fresh);
    throw Error(ErrorKind::system,
                differs + ": build both from one source, as cmake --build does, and put them into one folder.");
  }
}

/// A page with two of this size stays below 1 MB.
constexpr std::size_t most_passages = 5'000;

/// The timeline, cut to a stretch from its middle if it has more passages than there is room for.
Json shortened(Json timeline) {
  Json const& passages = timeline.at("passages");
  if (passages.size() <= most_passages) return timeline;
  Recording all;
  // Only their times matter here: a passage has its place in the list for a tile.
  for (Json const& one : passages) {
    all.passages.push_back(
        {.tile = all.passages.size(), .begin = one.at(3).get<std::int64_t>(), .end = one.at(4).get<std::int64_t>()});
  }
  Json some = Json::array();
  for (Passage const& one : middle_of(all, most_passages).passages) some.push_back(passages.at(one.tile));
  timeline["passages"] = some;
  return timeline;
}

}  // namespace

Comparison::Comparison(std::string program) : program_(std::move(program)), compared_(std::make_unique<Compared>()) {}
Comparison::~Comparison() = default;

void Comparison::add(std::string_view legacy, std::string_view per_thread) try {
  Json const old = Json::parse(legacy), fresh = Json::parse(per_thread);
  expect_one_build(old, fresh, program_);
  auto& points = compared_->points;
  if (points.empty()) {
    compared_->first = fresh;
    compared_->legacy_commit = build_text(old, "commit");
    for (Json const& point : fresh.at("points")) {
      Json const& axes = point.at("axes");
      bool const own = axes.value("streams", compared_->option("streams")) == "own";
      points.push_back({.axes = axes, .own_streams = own});
    }
  }
  Json const& olds = old.at("points");
  Json const& freshs = fresh.at("points");
  if (olds.size() != points.size() || freshs.size() != points.size()) {
    throw Error(ErrorKind::system, "The two programs measured different points: are both of one build?");
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (olds[i].at("axes") != points[i].axes || freshs[i].at("axes") != points[i].axes) {
      throw Error(ErrorKind::system, "The two programs measured different points: are both of one build?");
    }
    if (!points[i].error().empty()) continue;
    points[i].take(olds[i], freshs[i]);
    points[i].expect_same_results();
  }
} catch (nlohmann::json::exception const& problem) {
  throw Error(ErrorKind::system, unreadable_results(problem));
}

std::string Comparison::doubt() const {
  std::string const commit = build_text(compared_->first, "commit");
  if (commit == compared_->legacy_commit) return "";
  bool const legacy = compared_->legacy_commit.empty();
  std::string const of_legacy = program_ + "-legacy";
  return (legacy ? of_legacy : program_) + " does not say of which commit it is, and " +
         (legacy ? program_ : of_legacy) + " is of " + (legacy ? commit : compared_->legacy_commit) +
         ": make sure that both were built from one source.";
}

bool Comparison::all_measured() const {
  return std::all_of(compared_->points.begin(), compared_->points.end(),
                     [](ComparedPoint const& point) { return point.measured(); });
}

std::string Comparison::what_failed() const {
  std::vector<std::string> found;
  for (ComparedPoint const& point : compared_->points) {
    if (point.measured()) continue;
    bool const both = !point.legacy.error.empty() && !point.per_thread.error.empty();
    found.push_back(point.where() + (both                          ? " in both builds"
                                     : !point.legacy.error.empty() ? " in the legacy build"
                                                                   : " in the per-thread build"));
  }
  if (found.empty()) return "";
  if (compared_->points.size() == 1) return "The only point was not measured" + found[0] + ".";
  std::string text = std::to_string(found.size()) + " of " + std::to_string(compared_->points.size()) + " points " +
                     (found.size() == 1 ? "was" : "were") + " not measured: ";
  for (std::size_t i = 0; i < found.size(); ++i) text += (i == 0 ? "" : "; ") + found[i];
  return text + ".";
}

bool Comparison::holds(Claim const& claim) const {
  auto const claimed = compared_->claimed();
  return !claimed.empty() && std::all_of(claimed.begin(), claimed.end(), [&](ComparedPoint const* point) {
    return point->judged_by_its_clock() && claim.holds(measure::spread_of(point->speed_ups()).median);
  });
}

std::size_t Comparison::points() const {
  return compared_->points.size();
}

std::vector<std::size_t> Comparison::measured() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < compared_->points.size(); ++i) {
    if (compared_->points[i].measured()) found.push_back(i);
  }
  return found;
}

std::optional<std::size_t> Comparison::plainest() const {
  double most = 0;
  std::optional<std::size_t> found;
  for (std::size_t const i : measured()) {
    // Points with a late clock are shown only if there are no others.
    double const judged = compared_->points[i].judged_by_its_clock() ? 1 : 1e-6;
    double const speed_up = judged * measure::spread_of(compared_->points[i].speed_ups()).median;
    if (speed_up > most) found = i;
    most = std::max(most, speed_up);
  }
  return found;
}

std::map<std::string, std::string> Comparison::values_of(std::size_t point) const {
  std::map<std::string, std::string> values;
  for (auto const& [name, value] : compared_->points.at(point).axes.items()) values.emplace(name, value_text(value));
  return values;
}

void Comparison::judge(Flavour by, std::string_view results, std::span<std::size_t const> which) try {
  Json const json = Json::parse(results);
  Json const& points = json.at("points");
  if (points.size() != which.size())
    throw Error(ErrorKind::system, "A program judged other points than it was asked for.");
  for (std::size_t i = 0; i < which.size(); ++i) {
    ComparedPoint& point = compared_->points.at(which[i]);
    if (points[i].at("axes") != point.axes)
      throw Error(ErrorKind::system, "A program judged other points than it was asked for.");
    if (points[i].at("error").is_null()) {
      point.by(by).judged = points[i];
    } else {
      remark(by, points[i].at("error").get<std::string>(), which.subspan(i, 1));
    }
  }
  Json timeline = json.at("timeline");
  if (timeline.is_null()) return;
  // Both belong to the same point, or there is none.
  std::size_t const point = which[timeline.at("point").get<std::size_t>()];
  if (point != plainest()) return;
  timeline["point"] = point;
  (by == Flavour::legacy ? compared_->legacy_timeline : compared_->per_thread_timeline) =
      shortened(std::move(timeline));
} catch (nlohmann::json::exception const& problem) {
  throw Error(ErrorKind::system, unreadable_results(problem));
}

void Comparison::remark(Flavour by, std::string const& why, std::span<std::size_t const> which) {
  for (std::size_t const i : which)
    compared_->points.at(i).by(by).remarks.push_back("Its latency, ceilings and verdict could not be had: " + why);
}

std::string Comparison::sentence() const {
  return sentence_on(*compared_);
}

std::string Comparison::as_text() const {
  return cli::as_text(*compared_);
}

std::string Comparison::as_json(std::string const& date, std::string const& command) const {
  return cli::as_json(*compared_, date, command);
}

std::string Comparison::as_csv(std::string const& date) const {
  return cli::as_csv(*compared_, date);
}

}  // namespace penstock::cli
