// SPDX-License-Identifier: Apache-2.0
#include "course/figures_text.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "programs/command/results.hpp"

namespace penstock::lab {
namespace {

std::string number_text(double value) {
  char number[32];
  std::snprintf(number, sizeof number, value < 999.5 ? "%.3g" : "%.0f", value);
  return number;
}

std::string unit_text(Figure const& figure) {
  return figure.unit.empty() ? "" : " " + figure.unit;
}

std::string line_of(Figure const& figure) {
  std::string line = figure.what + ": " + number_text(figure.value) + unit_text(figure);
  if (figure.possible) line += ", possible " + number_text(*figure.possible);
  if (figure.text) line += ", in the text " + number_text(*figure.text);
  for (auto const& [heading, content] : figure.beside) line.append(", ").append(heading).append(" ").append(content);
  return line;
}

std::string cell(std::optional<double> const& value, Figure const& figure) {
  return value ? number_text(*value) + unit_text(figure) : "";
}

/// A line for each figure that says what it waited for.
std::string bounds_of(std::span<Figure const> figures, std::size_t indent, std::size_t columns) {
  std::string lines;
  for (Figure const& figure : figures) {
    if (!figure.bound.empty()) lines += cli::wrapped(figure.what + ": " + figure.bound, indent, columns);
  }
  return lines;
}

/// A table of figures. A column without a value is left out.
std::string table_of(std::span<Figure const> figures, std::size_t indent) {
  auto const any = [&](std::optional<double> Figure::*member) {
    return std::ranges::any_of(figures, [&](Figure const& figure) { return (figure.*member).has_value(); });
  };
  bool const texts = any(&Figure::text), possibles = any(&Figure::possible);
  std::vector<std::vector<std::string>> rows;
  auto const add = [&](std::string name, std::string text, std::string possible, std::string measured) {
    auto& row = rows.emplace_back(1, std::string(indent, ' ') + std::move(name));
    if (texts) row.push_back(std::move(text));
    if (possibles) row.push_back(std::move(possible));
    row.push_back(std::move(measured));
  };
  add("", "text", "possible", figures.front().heading);
  for (auto const& [heading, content] : figures.front().beside) rows.back().push_back(heading);
  for (Figure const& figure : figures) {
    add(figure.what, cell(figure.text, figure), cell(figure.possible, figure), cell(figure.value, figure));
    for (auto const& [heading, content] : figure.beside) rows.back().push_back(content);
  }
  return cli::text_table(rows, 1);
}

bool fits(std::string const& lines, std::size_t columns) {
  for (std::size_t start = 0; start < lines.size();) {
    std::size_t const end = lines.find('\n', start);
    if (end - start > columns) return false;
    start = end + 1;
  }
  return true;
}

}  // namespace

std::string figures_text(std::span<Figure const> figures, std::size_t indent, std::size_t columns) {
  std::string text;
  while (!figures.empty()) {
    auto const kind = figures.front().in_table();
    auto const same = static_cast<std::size_t>(
        std::ranges::find_if(figures, [&](Figure const& figure) { return figure.in_table() != kind; }) -
        figures.begin());
    auto const table = kind ? table_of(figures.first(same), indent) : "";
    if (kind && fits(table, columns)) {
      text += table;
    } else {
      for (Figure const& figure : figures.first(same)) text += cli::wrapped(line_of(figure), indent, columns);
    }
    text += bounds_of(figures.first(same), indent, columns);
    figures = figures.subspan(same);
  }
  return text;
}

std::vector<nlohmann::ordered_json> rows_of(nlohmann::ordered_json const& about, std::span<Figure const> figures) {
  using Json = nlohmann::ordered_json;
  std::vector<Json> rows;
  for (Figure const& figure : figures) {
    Json& row = rows.emplace_back(about);
    row.update({{"what", figure.what},
                {"value", figure.value},
                {"unit", figure.unit},
                {"text", or_null(figure.text)},
                {"possible", or_null(figure.possible)}});
  }
  if (rows.empty()) {
    Json& row = rows.emplace_back(about);
    for (char const* const name : {"what", "value", "unit", "text", "possible"}) row[name] = nullptr;
  }
  return rows;
}

}  // namespace penstock::lab
