// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/check_list.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

#include "penstock/ingest/files.hpp"

namespace penstock::cli {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::size_t hex_digits = 64;

/// Length of the well-formed UTF-8 sequence at the start of `text`, or 0; `bad` is then the number of bytes that one
/// replacement stands for: the longest start of a sequence that could have become one.
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
  // The second byte's range excludes overlong forms, surrogates and characters beyond U+10FFFF.
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
  if (std::ranges::all_of(text, [](char c) { return static_cast<std::uint8_t>(c) < 0x80; })) return std::string(text);
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
  std::string const text = readable(path);
  std::string shown = name_in_line(text);
  bool const escaped = shown != text;
  return {std::move(shown), escaped};
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

CheckList::CheckList(std::vector<std::string> lists, OnProblem on_problem, std::stop_token stop)
    : lists_(std::move(lists)), on_problem_(std::move(on_problem)), stop_(std::move(stop)) {}

std::optional<WantedFile> CheckList::next() {
  while (list_ != nullptr || open_next()) {
    std::string line;
    try {
      if (!next_line(line)) {
        if (stop_.stop_requested()) return std::nullopt;
        list_ = nullptr;
        continue;
      }
    } catch (std::runtime_error const& problem) {
      // It is a directory, or a disk that fails halfway: bytes that were not read must not count as verified.
      on_problem_(lists_[opened_ - 1], problem.what());
      list_ = nullptr;
      continue;
    }
    auto parsed = parse_sum_line(line);
    if (auto* const sum = std::get_if<ExpectedSum>(&parsed)) {
      return WantedFile{
          .path = std::move(sum->path), .problem = {}, .expected = std::move(sum->hex), .shown = std::move(sum->shown)};
    }
    on_problem_(lists_[opened_ - 1], "line " + std::to_string(line_) + ": " + std::get<std::string>(parsed));
  }
  return std::nullopt;
}

/// Goes on to the next list that can be opened; false if there is none.
bool CheckList::open_next() {
  while (opened_ < lists_.size()) {
    std::string const& path = lists_[opened_++];
    read_.clear();
    line_ = 0;
    try {
      list_ = std::make_unique<OpenFile>(path);
      return true;
    } catch (std::runtime_error const& problem) {
      on_problem_(path, problem.what());
    }
  }
  return false;
}

/// Reads a line without its newline, which the last one need not have; false at the end, or once stop is requested.
bool CheckList::next_line(std::string& line) {
  std::size_t looked_at = 0;
  for (;;) {
    if (auto const newline = read_.find('\n', looked_at); newline != std::string::npos) {
      line = read_.substr(0, newline);
      read_.erase(0, newline + 1);
      ++line_;
      return true;
    }
    looked_at = read_.size();
    read_.resize(looked_at + 4096);  // A page is added: erasing lines from the front of it is cheap.
    std::size_t const got = list_->read_some(std::as_writable_bytes(std::span(read_).subspan(looked_at)), stop_);
    read_.resize(looked_at + got);
    if (got > 0) continue;
    if (read_.empty() || stop_.stop_requested()) return false;
    line = std::exchange(read_, {});
    ++line_;
    return true;
  }
}

}  // namespace penstock::cli
