// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/sum_line.hpp"

#include <algorithm>
#include <cstdint>

namespace penstock::cli {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::size_t hex_digits = 64;

/// Length of the well-formed UTF-8 sequence at the start of `text`, or 0; `bad` is how many bytes one replacement
/// stands for then: the longest start of a sequence that could have become one.
std::size_t utf8_length(std::string_view text, std::size_t& bad) {
  auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0U; };
  unsigned const lead = byte(0);
  bad = 1;
  if (lead < 0x80) return 1;
  std::size_t const length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0) return 0;
  // The second byte's range keeps out overlong forms, surrogates and what lies beyond U+10FFFF.
  unsigned const low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned const high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (bad = 2; bad < length; ++bad) {
    if (byte(bad) < 0x80 || byte(bad) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

std::string readable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t bad = 0;
    std::size_t const length = utf8_length(text, bad);
    result += length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? bad : length);
  }
  return result;
}

PrintedPath printed(std::string_view path) {
  PrintedPath result;
  for (char const byte : readable(path)) {
    bool const escapes = byte == '\\' || byte == '\n';
    result.text += escapes ? (byte == '\\' ? "\\\\" : "\\n") : std::string(1, byte);
    result.escaped = result.escaped || escapes;
  }
  return result;
}

std::string sum_line(std::string_view hex, std::string_view path) {
  PrintedPath const shown = printed(path);
  std::string line = shown.escaped ? "\\" : "";
  line += hex;
  line += "  ";
  line += shown.text;
  return line;
}

std::variant<ExpectedSum, std::string> parse_sum_line(std::string_view line) {
  if (line.empty()) return "Empty line";
  bool const escaped = line.front() == '\\';
  if (escaped) line.remove_prefix(1);
  if (line.size() < hex_digits + 3 || line.substr(hex_digits, 2) != "  ") {
    return "Not a checksum line: 64 hexadecimal digits, two spaces and a path are expected";
  }
  ExpectedSum sum{std::string(line.substr(0, hex_digits)), {}, {}};
  auto const hexadecimal = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!std::all_of(sum.hex.begin(), sum.hex.end(), hexadecimal)) return "Invalid hexadecimal digits";
  std::string_view path = line.substr(hex_digits + 2);
  if (path.find('\0') != std::string_view::npos) return "Null character in path";
  if (path.find(replacement) != std::string_view::npos) return "Unicode replacement character in path";
  sum.shown = (escaped ? "\\" : "") + readable(path);
  if (!escaped) {
    sum.path = path;
    return sum;
  }
  for (; !path.empty(); path.remove_prefix(1)) {
    if (path.front() != '\\') {
      sum.path += path.front();
      continue;
    }
    path.remove_prefix(1);
    if (path.empty() || (path.front() != 'n' && path.front() != '\\')) return "Invalid backslash escape in path";
    sum.path += path.front() == 'n' ? '\n' : '\\';
  }
  return sum;
}

}  // namespace penstock::cli
