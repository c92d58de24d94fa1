// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/expectation.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

constexpr std::array<std::string_view, 7> figures{"overlap", "overlap_text", "speed_of_light", "duplex",
                                                  "hazards", "pageable",     "legacy"};

std::optional<double> figure_of(nlohmann::ordered_json const& process, std::string const& figure) {
  if (figure == "hazards") return process.at("hazards").at("count").get<double>();
  if (figure == "pageable" || figure == "legacy") {
    // Results of an earlier version have only the faults that they list.
    if (process.contains("fault_counts")) return process.at("fault_counts").at(figure).get<double>();
    for (auto const& fault : process.at("faults"))
      if (fault.at("fault") == figure) return fault.at("count").get<double>();
    return 0;
  }
  auto const& value = process.at(figure);
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

}  // namespace

Expectation::Expectation(std::string const& text) : claim_(text, figures, "overlap > 0.6") {}

std::string Expectation::broken_by(nlohmann::ordered_json const& process) const {
  std::optional<double> const value = figure_of(process, claim_.figure());
  if (!value) return claim_.broken() + ": there is no " + claim_.figure() + ", for want of such work.";
  return claim_.holds(*value) ? "" : claim_.broken() + ": it is " + formatted("%.4g", *value) + ".";
}

}  // namespace penstock::cli
