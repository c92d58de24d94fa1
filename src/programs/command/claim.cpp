// SPDX-License-Identifier: Apache-2.0
#include "programs/command/claim.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

std::string without_blanks(std::string_view text) {
  auto const begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

/// "overlap, duplex or hazards".
std::string listed(std::span<std::string_view const> figures) {
  std::string text;
  for (std::size_t i = 0; i < figures.size(); ++i)
    text.append(i == 0 ? "" : i + 1 < figures.size() ? ", " : " or ").append(figures[i]);
  return text;
}

}  // namespace

Claim::Claim(std::string const& text, std::span<std::string_view const> figures, std::string_view example)
    : text_(text) {
  auto const at = text.find_first_of("<>");
  if (at != std::string::npos) {
    std::size_t const length = at + 1 < text.size() && text[at + 1] == '=' ? 2 : 1;
    figure_ = without_blanks(std::string_view(text).substr(0, at));
    comparison_ = text.substr(at, length);
    std::string const number = without_blanks(std::string_view(text).substr(at + length));
    char* end = nullptr;
    number_ = std::strtod(number.c_str(), &end);
    bool const is_number = !number.empty() && *end == 0 && std::isfinite(number_);
    if (is_number && std::ranges::find(figures, figure_) != figures.end()) return;
  }
  throw Error(ErrorKind::bad_argument, "--expect '" + text + "' is no expectation: write " + listed(figures) +
                                           ", then >, >=, < or <=, then a number, as in --expect '" +
                                           std::string(example) + "'.");
}

bool Claim::holds(double value) const noexcept {
  return comparison_ == ">"    ? value > number_
         : comparison_ == ">=" ? value >= number_
         : comparison_ == "<"  ? value < number_
                               : value <= number_;
}

}  // namespace penstock::cli
