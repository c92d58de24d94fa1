// SPDX-License-Identifier: Apache-2.0
#include "egress/sink/name_pattern.hpp"

#include <algorithm>
#include <ctime>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t least_digits = 6;

/// Formats a time as "20260131T235959Z".
std::string time_text(std::chrono::system_clock::time_point time) {
  std::time_t const seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts)};
}

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

/// True if a text has the form of time_text.
bool is_time(std::string_view text) {
  std::string form(text);
  std::replace_if(form.begin(), form.end(), is_digit, '0');
  return form == "00000000T000000Z";
}

}  // namespace

NamePattern::NamePattern(std::string_view text) {
  constexpr std::string_view number = "{number}", time = "{time}";
  auto const count = [&](Kind kind) {
    return std::count_if(pieces_.begin(), pieces_.end(), [&](Piece const& piece) { return piece.kind == kind; });
  };
  bool adjoin = false;
  for (std::string_view rest = text; !rest.empty();) {
    bool const is_number = rest.substr(0, number.size()) == number, is_time = rest.substr(0, time.size()) == time;
    bool const behind_text = pieces_.empty() || pieces_.back().kind == Kind::text;
    if (is_number || is_time) {
      adjoin = adjoin || !behind_text;
      pieces_.push_back({is_number ? Kind::number : Kind::time, ""});
      rest.remove_prefix((is_number ? number : time).size());
    } else {
      // A digit here could not be distinguished from the number's own.
      adjoin = adjoin || (!pieces_.empty() && pieces_.back().kind == Kind::number && is_digit(rest.front()));
      if (!behind_text || pieces_.empty()) pieces_.push_back({Kind::text, ""});
      pieces_.back().text += rest.front();
      rest.remove_prefix(1);
    }
  }
  if (adjoin || count(Kind::number) != 1 || count(Kind::time) > 1)
    throw Error(ErrorKind::bad_argument,
                "'" + std::string(text) +
                    "' names no files that follow one another: it needs {number} once, and may "
                    "have {time} once, with something between them, and no digit behind {number}, as in "
                    "log-{number}-{time}.txt.");
}

std::string NamePattern::name(std::uint64_t number, std::chrono::system_clock::time_point time) const {
  std::string name;
  for (Piece const& piece : pieces_) {
    std::string const digits = std::to_string(number);
    if (piece.kind == Kind::number)
      name += std::string(least_digits - std::min(least_digits, digits.size()), '0') + digits;
    if (piece.kind == Kind::time) name += time_text(time);
    if (piece.kind == Kind::text) name += piece.text;
  }
  return name;
}

std::optional<std::uint64_t> NamePattern::number_of(std::string_view name) const {
  std::optional<std::uint64_t> number;
  for (Piece const& piece : pieces_) {
    std::size_t length = piece.text.size();
    if (piece.kind == Kind::time) length = time_text({}).size();
    if (piece.kind == Kind::number)
      length = static_cast<std::size_t>(std::find_if_not(name.begin(), name.end(), is_digit) - name.begin());
    std::string_view const part = name.substr(0, length);
    if (piece.kind == Kind::text && part != piece.text) return std::nullopt;
    if (piece.kind == Kind::time && !is_time(part)) return std::nullopt;
    if (piece.kind == Kind::number) {
      number = whole_number_of(part);
      if (part.size() < least_digits || !number) return std::nullopt;
    }
    name.remove_prefix(part.size());
  }
  return name.empty() ? number : std::nullopt;
}

}  // namespace penstock
