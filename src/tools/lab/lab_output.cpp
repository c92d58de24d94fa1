// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/lab_output.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/report/trace_text.hpp"
#include "tools/lab/timeline.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t indent = 2;

std::string figure_text(lab::Figure const& figure) {
  char number[32];
  std::snprintf(number, sizeof number, "%.3g", figure.value);
  return figure.what + ": " + number + " " + figure.unit;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string const margin(indent, ' ');
  std::string lines;
  std::string line;
  while (!text.empty()) {
    auto const word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!line.empty() && indent + line.size() + 1 + word.size() > columns)
      lines += margin + std::exchange(line, {}) + "\n";
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line.empty() ? lines : lines + margin + line + "\n";
}

std::string as_text(LabPlace const& place) {
  return place.device + "; stream 0 is " + place.flavour + " unless an experiment says otherwise\n";
}

std::string as_text(lab::Experiment const& experiment, std::size_t columns) {
  return std::string(experiment.name) + "\n" + wrapped(experiment.expectation, indent, columns);
}

std::string as_text(lab::Experiment const& experiment, lab::Observation const& seen, std::size_t columns) {
  std::string text = as_text(experiment, columns) + "\n";
  for (std::string const& line : lab::draw(seen.intervals, columns - indent)) {
    text += std::string(indent, ' ') + line + "\n";
  }
  if (!seen.intervals.empty()) text += "\n";
  for (lab::Figure const& figure : seen.figures) text += wrapped(figure_text(figure), indent, columns);
  text += wrapped((seen.verdict.as_expected ? "As expected: " : "NOT as expected: ") + seen.verdict.fact + ".", indent,
                  columns);
  return text + wrapped(experiment.why, indent, columns);
}

std::string as_json(LabPlace const& place, lab::Experiment const& experiment, lab::Observation const& seen) {
  using Json = nlohmann::ordered_json;
  Json intervals = Json::array();
  for (lab::Interval const& interval : seen.intervals) {
    intervals.push_back({{"row", interval.row},
                         {"label", interval.label},
                         {"start_ns", interval.start.count()},
                         {"end_ns", interval.end.count()}});
  }
  Json figures = Json::array();
  for (lab::Figure const& figure : seen.figures) {
    figures.push_back({{"what", figure.what}, {"value", figure.value}, {"unit", figure.unit}});
  }
  Json const json{{"name", experiment.name},
                  {"device", place.device},
                  {"flavour", place.flavour},
                  {"expectation", experiment.expectation},
                  {"intervals", intervals},
                  {"figures", figures},
                  {"as_expected", seen.verdict.as_expected},
                  {"fact", seen.verdict.fact},
                  {"why", experiment.why}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_text(std::size_t as_expected, std::size_t all) {
  if (as_expected == all) return std::to_string(all) + " of " + std::to_string(all) + " went as expected\n";
  return std::to_string(all - as_expected) + " of " + std::to_string(all) + " did NOT go as expected\n";
}

void write_lab_trace(std::ostream& out, LabPlace const& place,
                     std::span<std::pair<std::string, lab::Observation> const> seen) {
  TraceText text(out);
  text.notes({{"device", place.device}, {"stream 0", place.flavour}});
  std::uint32_t process = 0;
  for (auto const& [name, observation] : seen) {
    text.name_process(++process, name + (observation.verdict.as_expected ? "" : ", NOT as expected"));
    std::vector<std::string> rows;
    for (lab::Interval const& interval : observation.intervals) {
      auto found = std::find(rows.begin(), rows.end(), interval.row);
      if (found == rows.end()) {
        found = rows.insert(rows.end(), interval.row);
        text.name_row(process, static_cast<std::uint32_t>(rows.size()), interval.row);
      }
      auto const row = static_cast<std::uint32_t>(found - rows.begin() + 1);
      text.slice(process, row, interval.start.count(), interval.end.count(), "lab", interval.label);
    }
  }
  text.finish();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
