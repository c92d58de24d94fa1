// SPDX-License-Identifier: Apache-2.0
#include "programs/command/figure_arguments.hpp"

#include <vector>

#include "programs/command/arguments.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string cell_of(Json const& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.dump();
}

}  // namespace

std::array<CLI::Option*, 3> FigureArguments::add_to(CLI::App& command, std::string const& as_json,
                                                    std::string const& line) {
  auto* const data = command.add_flag("--json", json, as_json);
  auto* const lines = command.add_flag("--csv", csv, "Print a line for " + line + ", with commas");
  lines->excludes(data);
  auto* const page = command.add_option("--html", html, "Also write a page of the results to this file");
  page->type_name("FILE")->check(names_an_output());
  return {data, lines, page};
}

std::string csv_of(std::span<Json const> rows, bool with_names) {
  std::string lines;
  std::vector<std::string> cells;
  if (with_names && !rows.empty()) {
    for (auto const& member : rows.front().items()) cells.push_back(member.key());
    lines += csv_line(cells);
  }
  for (Json const& row : rows) {
    cells.clear();
    for (Json const& value : row) cells.push_back(cell_of(value));
    lines += csv_line(cells);
  }
  return lines;
}

std::string with_lines(std::string const& json, std::span<Json const> rows, std::span<std::string const> sentences) {
  Json results = Json::parse(json);
  Json& lines = results["lines"] = Json::array();
  for (Json const& row : rows) lines.push_back(row);
  if (!sentences.empty()) results["sentences"] = std::vector<std::string>(sentences.begin(), sentences.end());
  return results.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::cli
