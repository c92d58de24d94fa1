// SPDX-License-Identifier: Apache-2.0
#include "programs/compare/sweep_case.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "observe/option_table.hpp"
#include "programs/command/arguments.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<char const*, char const*>, 7> bare_values{{{"lanes", "producers"},
                                                                          {"shape", "single"},
                                                                          {"transport", "copies"},
                                                                          {"graphs", "never"},
                                                                          {"signal", "event_poll"},
                                                                          {"sink", "lanes"},
                                                                          {"batch", "1"}}};

/// `others`, with a new first member.
Json with_first(char const* name, std::string const& value, Json const& others) {
  Json all{{name, value}};
  all.update(others);
  return all;
}

}  // namespace

void CaseArguments::add_to(CLI::App& command) {
  command_ = &command;
  command
      .add_option("--case", asked,
                  "bare: a thread with one stream that it polls; used: the framework with its defaults; or both.\n"
                  "Default: both")
      ->type_name("NAME")
      ->check(CLI::IsMember({"both", "bare", "used"}));
}

std::vector<SweepCase> CaseArguments::cases(AxisOptions const& axes) const {
  std::vector<SweepCase> all;
  if (asked != "used") {
    SweepCase bare{bare_case, axes};
    for (auto const& [axis, value] : bare_values) {
      if (!axes.from_profile.contains(axis) && !is_named(*command_, axis)) bare.axes.lists[axis] = value;
    }
    all.push_back(std::move(bare));
  }
  if (asked != "bare") all.push_back({used_case, axes});
  return all;
}

std::string in_case(SweepCase const& which, bool several, std::string const& results) {
  if (!several) return results;
  Json all = Json::parse(results);
  for (Json& point : all.at("points")) point["axes"] = with_first(case_axis, which.name, point.at("axes"));
  return all.dump();
}

std::string with_cases(std::vector<SweepCase> const& cases, std::vector<std::string> const& results) {
  if (cases.size() == 1) return results.front();
  Json all = Json::parse(in_case(cases.front(), true, results.front()));
  Json names = Json::array();
  Json points = Json::array();
  Json timeline = nullptr;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Json const one = Json::parse(in_case(cases[i], true, results[i]));
    names.push_back(cases[i].name);
    Json const& its_timeline = one.at("timeline");
    if (timeline.is_null() && !its_timeline.is_null()) {
      timeline = its_timeline;
      timeline["point"] = its_timeline.at("point").get<std::size_t>() + points.size();
    }
    for (Json const& point : one.at("points")) points.push_back(point);
    // The sweep has only the options that all cases have in common.
    if (i == 0) continue;
    Json shared = Json::object();
    for (auto const& [name, value] : all.at("options").items()) {
      if (one.at("options").contains(name) && one.at("options").at(name) == value) shared[name] = value;
    }
    all["options"] = shared;
  }
  Json axes = Json::array({{{"name", case_axis}, {"values", names}}});
  for (Json const& axis : all.at("axes")) axes.push_back(axis);
  all["axes"] = axes;
  all["points"] = points;
  all["timeline"] = timeline;
  return all.dump();
}

}  // namespace penstock::cli
