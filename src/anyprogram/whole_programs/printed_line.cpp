// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/printed_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

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

/// True if a word within this text announces what follows.
bool announced_by(std::string_view text) {
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

/// Numbers may be padded.
std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace

PrintedLine::PrintedLine(std::string_view text, std::size_t its_number) : number(its_number), text(text) {
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    char const before = at == 0 ? ' ' : text[at - 1];
    bool const within_word = std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_' || before == '.';
    std::size_t const length = within_word ? 0 : number_length(text.substr(at));
    if (length == 0) {
      ++at;
      continue;
    }
    words.push_back(without_blanks(text.substr(from, at - from)));
    std::string_view const before_it = text.substr(from, at - from);
    std::size_t const unit = numbers.empty() ? 0 : unit_length(before_it);
    if (unit != 0) numbers.back().measured = true;
    // The unit of the number before announces no other number.
    numbers.push_back({.text = text.substr(at, length), .measured = announced_by(before_it.substr(unit))});
    from = at += length;
  }
  words.push_back(without_blanks(text.substr(from)));
  if (!numbers.empty() && unit_length(text.substr(from)) != 0) numbers.back().measured = true;
}

std::vector<PrintedLine> printed_lines(std::string_view text) {
  std::vector<PrintedLine> all;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::size_t const end = text.find('\n');
    all.emplace_back(text.substr(0, end), number);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return all;
}

bool same_words(PrintedLine const& one, PrintedLine const& other) noexcept {
  return one.words == other.words;
}

}  // namespace penstock::cli
