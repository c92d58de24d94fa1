// SPDX-License-Identifier: Apache-2.0
#include "resources/judge.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <regex>
#include <string_view>

namespace penstock::sweep {
namespace {

/// Its lines; `whole` says whether the last one has an end.
std::vector<std::string> lines_of(std::string const& text, bool& whole) {
  std::vector<std::string> lines;
  std::size_t from = 0;
  for (std::size_t end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    lines.push_back(text.substr(from, end - from));
  }
  whole = from == text.size();
  if (!whole) lines.push_back(text.substr(from));
  return lines;
}

std::string without_program(std::string const& line) {
  std::size_t const colon = line.find(": ");
  bool const named = colon != std::string::npos && line.find(' ') == colon + 1;
  return named ? line.substr(colon + 2) : line;
}

/// The cells of a line of a table with commas.
std::vector<std::string> cells_of(std::string const& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (char const one : line) {
    if (one == '"') quoted = !quoted;
    if (one == ',' && !quoted) cells.emplace_back();
    if (one != '"' && (one != ',' || quoted)) cells.back() += one;
  }
  return cells;
}

/// True if a program whose results are a table has put such an error into one of its cells.
bool has_bare_cell(std::string const& line) {
  auto const cells = cells_of(line);
  return std::ranges::any_of(cells, [](std::string const& cell) { return !cell.empty() && is_bare(cell); });
}

std::string without_numbers(std::string const& line) {
  return std::regex_replace(line, std::regex("[0-9]+"), "N");
}

}  // namespace

bool is_bare(std::string const& line) {
  std::string const said = without_program(line);
  std::array<std::string_view, 6> const foreign{"std::",    "[json.",           "basic_string",
                                                "vector::", "terminate called", "what():"};
  bool const from_library =
      std::ranges::any_of(foreign, [&](auto part) { return said.find(part) != std::string::npos; });
  if (from_library || said.empty()) return true;
  for (int error = 1; error < 134; ++error) {
    char const* const words = strerrordesc_np(error);  // There are numbers without words.
    if (words != nullptr && said == words) return true;
  }
  return false;
}

std::vector<std::string> faults_of(Ended const& ended, Allowed const& allowed) {
  std::vector<std::string> faults;
  if (ended.report.find("began") == std::string::npos) return faults;
  if (ended.hung) faults.emplace_back("hang");
  if (ended.signal != 0) faults.push_back("signal " + std::to_string(ended.signal));
  if (ended.code && !allowed.codes.contains(*ended.code)) faults.push_back("code " + std::to_string(*ended.code));

  bool whole = true;
  auto const out = lines_of(ended.out, whole);
  if (!whole) faults.emplace_back("torn line");
  if (!allowed.lines.empty() && (ended.code == 0 || !allowed.any_if_not_well)) {
    std::multiset<std::string> const said(out.begin(), out.end());
    bool const known = std::ranges::includes(allowed.lines, said);
    if (whole && !known) faults.emplace_back("foreign line");
    if (ended.code == 0 && said.size() < allowed.lines.size()) faults.emplace_back("missing line");
  }
  auto const err = lines_of(ended.err, whole);
  if (!whole) faults.emplace_back("torn message");
  if (ended.signal != 0 || ended.hung) return faults;  // It had no chance to say anything.
  bool const speaks = !err.empty() || (allowed.lines.empty() && !out.empty());
  if (ended.code != 0 && !speaks) faults.emplace_back("no sentence");
  if (auto const bare = std::ranges::find_if(err, is_bare); bare != err.end())
    faults.push_back("bare message: " + without_numbers(*bare));
  if (auto const bare = std::ranges::find_if(out, has_bare_cell); allowed.lines.empty() && bare != out.end())
    faults.push_back("bare result: " + without_numbers(*bare));
  return faults;
}

}  // namespace penstock::sweep
