// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/expectation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "penstock/error.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

constexpr std::array<std::string_view, 4> ratios{"overlap", "overlap_text", "speed_of_light", "duplex"};
constexpr std::array<std::string_view, 3> counts{"hazards", "pageable", "legacy"};

template <class Names>
bool is_one_of(Names const& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string without_blanks(std::string_view text) {
  auto const begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

std::optional<double> figure_of(nlohmann::ordered_json const& process, std::string const& figure) {
  if (figure == "hazards") return process.at("hazards").at("count").get<double>();
  if (is_one_of(counts, figure)) {
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

Expectation::Expectation(std::string const& text) : text_(text) {
  auto const at = text.find_first_of("<>");
  if (at != std::string::npos) {
    std::size_t const length = at + 1 < text.size() && text[at + 1] == '=' ? 2 : 1;
    figure_ = without_blanks(std::string_view(text).substr(0, at));
    comparison_ = text.substr(at, length);
    std::string const number = without_blanks(std::string_view(text).substr(at + length));
    char* end = nullptr;
    number_ = std::strtod(number.c_str(), &end);
    if (!number.empty() && *end == 0 && std::isfinite(number_) &&
        (is_one_of(ratios, figure_) || is_one_of(counts, figure_)))
      return;
  }
  throw Error(ErrorKind::bad_argument,
              "--expect '" + text +
                  "' is no expectation: write overlap, overlap_text, speed_of_light, duplex, hazards, pageable or "
                  "legacy, then >, >=, < or <=, then a number, as in --expect 'overlap > 0.6'.");
}

std::string Expectation::broken_by(nlohmann::ordered_json const& process) const {
  std::optional<double> const value = figure_of(process, figure_);
  if (!value) return "--expect '" + text_ + "' does not hold: there is no " + figure_ + ", for want of such work.";
  bool const holds = comparison_ == ">"    ? *value > number_
                     : comparison_ == ">=" ? *value >= number_
                     : comparison_ == "<"  ? *value < number_
                                           : *value <= number_;
  return holds ? "" : "--expect '" + text_ + "' does not hold: it is " + formatted("%.4g", *value) + ".";
}

}  // namespace penstock::cli
