// SPDX-License-Identifier: Apache-2.0
// The walk over a line in which two fields count and both have only digits, on CPUs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

#include "kernels/lines/line_walk.hpp"

namespace penstock {

/// Reads a field of at most eight bytes as a number; false if one of them is no digit. `bytes` are the last eight up to
/// the end of the field, which has `size` of them, at least one.
constexpr bool few_digits(std::uint64_t bytes, std::size_t size, std::uint64_t& number) noexcept {
  constexpr std::uint64_t each = 0x0101'0101'0101'0101;
  // The first digit is in the lowest byte. Bytes before the field count as zeros.
  std::uint64_t const digits = (bytes ^ (each * '0')) >> (8 * (8 - size)) << (8 * (8 - size));
  if (((digits | (digits + each * (0x80 - 10))) & (each * 0x80)) != 0) return false;
  // Pairs of digits, pairs of these, and both: the lower of two stands for the higher places.
  std::uint64_t const pairs = (digits * 10 + (digits >> 8U)) & 0x00ff'00ff'00ff'00ff;
  std::uint64_t const fours = (pairs * 100 + (pairs >> 16U)) & 0x0000'ffff'0000'ffff;
  number = (fours * 10'000 + (fours >> 32U)) & 0xffff'ffff;
  return true;
}

/// Walks over a line as walk_line does with LineWalk::digits.
///
/// Shape: each stop of `stops`, from `begin` on, ends a field or a line.
template <class Stops>
class DigitWalk {
 public:
  DigitWalk(Stops& stops, std::span<char const> text, LineFields const& fields)
      : stops_(stops), text_(text), fields_(fields) {}

  WalkedLine walk(std::size_t begin) {
    WalkedLine line;
    if (fields_.format == LineFormat::access_log) {
      if (!walk_log(line, begin)) line = walk_shifted<LineWalk::digits>(byte_at(), begin, text_.size(), fields_);
      return line;
    }
    std::uint32_t const first = std::min(fields_.key, fields_.number), last = std::max(fields_.key, fields_.number);
    if (first > 0 && !go_on(line, first, begin)) return line;
    if (!read(line, first, begin) || last == first) return line;
    if (last - first > 1 && !go_on(line, last - first - 1, begin)) return line;
    read(line, last, begin);
    return line;
  }

 private:
  /// Moves `begin` behind `fields` fields, at least one. False if the line ends before that.
  bool go_on(WalkedLine& line, std::uint32_t fields, std::size_t& begin) {
    bool const goes_on = stops_.skip(fields - 1);
    line.stopped = stops_.next();
    begin = line.stopped + 1;
    return goes_on && !ends_line(line.stopped);
  }
  /// False if a field cannot be the one in its place.
  bool walk_log(WalkedLine& line, std::size_t begin) {
    if (std::min(fields_.key, fields_.number) < log_time) return walk_all(line, begin);
    std::uint32_t const last = std::max<std::uint32_t>({fields_.key, fields_.number, log_bytes});
    bool goes_on = go_on(line, log_time, begin);
    if (!goes_on) return false;
    for (std::uint32_t field = log_time; field <= last && goes_on; ++field) {
      std::size_t const first = begin;
      goes_on = next_field(line, begin);
      if (field <= log_request) {
        if (!goes_on || !is_log_field(field, byte_at(), first, end_)) return false;
        if (field != fields_.key && field != fields_.number) continue;
      }
      std::uint64_t value = 0;
      LineReason const reason = number_in(first, end_, value);
      // Most fields are digits only; a status has three.
      bool const good = reason == LineReason::used && text_[first] != '"' && (field != log_status || end_ - first == 3);
      if (!good && !is_log_field(field, byte_at(), first, end_)) return false;
      take(line, field, reason, value);
    }
    return true;
  }
  [[gnu::noinline]] bool walk_all(WalkedLine& line, std::size_t begin) {
    return walk_fields<LineWalk::digits>(line, stops_, byte_at(), 0, begin, text_.size(), fields_);
  }
  auto byte_at() const {
    return [bytes = text_.data()](std::size_t place) { return bytes[place]; };
  }
  bool ends_line(std::size_t at) const { return at == text_.size() || text_[at] == '\n'; }
  /// Goes to the beginning of the next field; `end_` is then the end of this one. False if the line ends with it.
  bool next_field(WalkedLine& line, std::size_t& begin) {
    end_ = line.stopped = stops_.next();
    bool const goes_on = !ends_line(end_);
    if (!goes_on && end_ != begin && text_[end_ - 1] == '\r') --end_;
    begin = line.stopped + 1;
    return goes_on;
  }
  void take(WalkedLine& line, std::uint32_t field, LineReason reason, std::uint64_t value) const {
    if (field == fields_.key) {
      line.key_reason = reason;
      line.key = value;
    }
    if (field == fields_.number) {
      line.number_reason = reason;
      line.number = reason == LineReason::used ? value : 0;
    }
  }
  /// Takes the field that begins there. False if the line ends with it.
  bool read(WalkedLine& line, std::uint32_t field, std::size_t& begin) {
    std::size_t first = begin;
    bool const goes_on = next_field(line, begin);
    if (fields_.format == LineFormat::words) {
      while (first < end_ && (text_[first] == ' ' || text_[first] == '\t')) ++first;
      if (first == end_) return goes_on;
    }
    std::uint64_t value = 0;
    LineReason const reason = number_in(first, end_, value);
    take(line, field, reason, value);
    return goes_on;
  }
  LineReason number_in(std::size_t begin, std::size_t end, std::uint64_t& value) const {
    std::size_t const size = end - begin;
    if (std::uint64_t bytes = 0;
        std::endian::native == std::endian::little && size - 1 < sizeof bytes && end >= sizeof bytes) {
      std::memcpy(&bytes, text_.data() + end - sizeof bytes, sizeof bytes);
      if (few_digits(bytes, size, value)) return LineReason::used;
    }
    bool const in_quotes =
        fields_.quote != 0 && size >= 2 && text_[begin] == fields_.quote && text_[end - 1] == fields_.quote;
    return digits_in(byte_at(), begin + (in_quotes ? 1 : 0), end - (in_quotes ? 1 : 0), value);
  }

  Stops& stops_;
  std::span<char const> const text_;
  LineFields const& fields_;
  std::size_t end_ = 0;  ///< End of the field that was read last.
};

}  // namespace penstock
