// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/printed_output.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace penstock::cli {
namespace {

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}
bool is_of_word(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '/' ||
         static_cast<unsigned char>(letter) > 0x7F;
}

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& letter : all) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return all;
}

/// True for a unit of time or of something in a time.
bool is_unit(std::string_view word) {
  constexpr std::array units{"s",           "sec",          "secs",        "second",       "seconds",    "ms",
                             "msec",        "msecs",        "us",          "usec",         "usecs",      "\xC2\xB5s",
                             "\xCE\xBCs",   "ns",           "nsec",        "min",          "minute",     "minutes",
                             "millisecond", "milliseconds", "microsecond", "microseconds", "nanosecond", "nanoseconds",
                             "fps",         "flops",        "mflops",      "gflops",       "tflops",     "bps",
                             "kbps",        "mbps",         "gbps",        "iops"};
  std::string const text = lower(word);
  if (std::ranges::find(units, text) != units.end()) return true;
  for (std::string_view const in_a_time : {"/s", "/sec", "/second", "/ms", "/us"})
    if (text.size() > in_a_time.size() && text.ends_with(in_a_time)) return true;
  return false;
}

/// True for a word that announces a measured value.
bool announces(std::string_view word) {
  constexpr std::array words{"time",       "timing", "elapsed", "duration",    "latency", "bandwidth",
                             "throughput", "speed",  "speedup", "performance", "took",    "runtime"};
  return std::ranges::find(words, lower(word)) != words.end() || (word.size() > 1 && is_unit(word));
}

/// True if a word within this text, in the last of its lines, announces what follows.
bool announced_by(std::string_view text) {
  text.remove_prefix(text.rfind('\n') + 1);  // npos + 1 is 0.
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_word(text[end])) ++end;
    if (end > at && announces(text.substr(at, end - at))) return true;
    at = std::max(end, at + 1);
  }
  return false;
}

/// Length of the unit at the begin of this text, which follows a number, in characters; 0 if it has none.
std::size_t unit_length(std::string_view text) {
  std::size_t const at = std::min(text.find_first_not_of(" \t(["), text.size());
  std::size_t end = at;
  while (end < text.size() && is_of_word(text[end])) ++end;
  return end > at && is_unit(text.substr(at, end - at)) ? end : 0;
}

/// Length of the number that the text begins with, in characters: decimal with sign, point and exponent, or
/// hexadecimal.
std::size_t number_length(std::string_view text) {
  std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  auto const digits = [&text, &at] {
    std::size_t const from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > from;
  };
  if (text.substr(at).starts_with("0x")) {
    std::size_t const end = text.find_first_not_of("0123456789abcdefABCDEF", at + 2);
    return std::min(end, text.size());
  }
  if (!digits()) return 0;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) ++at, digits();
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t const mantissa = at++;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (!digits()) at = mantissa;
  }
  return at;
}

std::string_view take_line(std::string_view& text) {
  std::size_t const end = text.find('\n');
  std::string_view const line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Numbers may be padded.
std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace

std::string shown_line(std::string_view line) {
  constexpr std::size_t most = 100;
  std::string text;
  for (char const letter : line.substr(0, most)) text += letter >= ' ' && letter <= '~' ? letter : '?';
  return line.size() > most ? text + "..." : text;
}

std::string difference_of(Heard const& one, Heard const& other) {
  if (alike(one, other)) return "";
  std::string_view left = one.begin(), right = other.begin();
  for (std::size_t line = 1; !left.empty() || !right.empty(); ++line) {
    std::string_view const mine = take_line(left), theirs = take_line(right);
    if (mine != theirs)
      return "line " + std::to_string(line) + ": '" + shown_line(mine) + "' and '" + shown_line(theirs) + "'";
  }
  return std::to_string(one.bytes()) + " and " + std::to_string(other.bytes()) +
         " bytes, which differ behind the first " + std::to_string(one.begin().size());
}

std::vector<PrintedOutput::Token> PrintedOutput::tokens_of(std::string_view text) {
  std::vector<Token> all;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    char const before = at == 0 ? ' ' : text[at - 1];
    bool const within_word = std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_' || before == '.';
    std::size_t const length = within_word ? 0 : number_length(text.substr(at));
    if (length == 0) {
      ++at;
      continue;
    }
    all.push_back({.text = text.substr(from, at - from)});
    all.push_back({.text = text.substr(at, length), .number = true});
    from = at += length;
  }
  all.push_back({.text = text.substr(from)});
  std::size_t unit = 0;  // Length of the unit of the number before, which announces no other number.
  for (std::size_t k = 1; k < all.size(); k += 2) {
    bool const announced = announced_by(all[k - 1].text.substr(unit));
    unit = unit_length(all[k + 1].text);
    all[k].measured = announced || unit != 0;
  }
  return all;
}

PrintedOutput::PrintedOutput(Heard first) : first_(std::move(first)), tokens_(tokens_of(first_.begin())) {}

std::string PrintedOutput::widen(Heard const& other) {
  return compare(other, true);
}
std::string PrintedOutput::compare(Heard const& other) {
  return compare(other, false);
}

std::string PrintedOutput::compare(Heard const& other, bool same_program) {
  if (alike(first_, other)) return "";
  std::string difference = difference_of(first_, other);
  // Nothing is known of the text behind what was kept.
  if (first_.bytes() != first_.begin().size() || other.bytes() != other.begin().size()) return difference;
  std::vector<Token> const theirs = tokens_of(other.begin());
  if (theirs.size() != tokens_.size()) return difference;
  std::vector<std::size_t> otherwise;
  for (std::size_t k = 0; k < tokens_.size(); ++k) {
    Token const& mine = tokens_[k];
    if (!mine.number && without_blanks(mine.text) != without_blanks(theirs[k].text)) return difference;
    if (!mine.number || mine.text == theirs[k].text) continue;
    if (!same_program && !mine.measured && !mine.varies) return difference;
    otherwise.push_back(k);
  }
  for (std::size_t const k : otherwise) {
    tokens_[k].varies |= same_program;
    tokens_[k].seen_other = true;
  }
  return "";
}

std::size_t PrintedOutput::left_out() const noexcept {
  return static_cast<std::size_t>(std::ranges::count(tokens_, true, &Token::seen_other));
}

}  // namespace penstock::cli
