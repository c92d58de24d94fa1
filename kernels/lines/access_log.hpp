// SPDX-License-Identifier: Apache-2.0
// Rules for the fields of an access log, and their places in a line that has more or fewer of them in front, the same
// on CPU and GPU.
#pragma once

#include <cstdint>

#include "kernels/lines/line_values.hpp"
#include "penstock/lines.hpp"

namespace penstock {

/// The fields that each line of an access log has; the format is recognised by them.
enum LogField : std::uint32_t { log_time = access_log_time, log_request, log_status, log_bytes };

/// True if the bytes are "-" or `count` digits; 0 allows any number of digits.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr bool is_dash_or_digits(ByteAt const& byte_at, Place begin, Place end, unsigned count) {
  if (end - begin == 1 && byte_at(begin) == '-') return true;
  for (Place at = begin; at < end; ++at) {
    if (digit_of(byte_at(at)) > 9) return false;
  }
  return begin != end && (count == 0 || end - begin == count);
}

/// True if the field in [begin, end) may be the one with this number.
template <class Place, class ByteAt>
PENSTOCK_WALKS_THERE constexpr bool is_log_field(std::uint32_t field, ByteAt const& byte_at, Place begin, Place end) {
  // A user may have brackets, but no such time in them.
  constexpr unsigned least_time = 12;
  if (field == log_time) {
    if (end - begin < least_time || byte_at(begin) != '[' || byte_at(end - 1) != ']') return false;
    if (digit_of(byte_at(begin + 1)) > 9 && byte_at(begin + 1) != ' ') return false;
    // A bracket of the user in front is not part of it. "[17/May/2015:10:05:03 +0200]" has no room for one.
    if (end - begin == 28 && byte_at(begin + 12) == ':') return true;
    for (Place at = begin + 1; at < end; ++at) {
      if (byte_at(at) == '[') return false;
    }
    return true;
  }
  if (field == log_request) return end - begin >= 2 && byte_at(begin) == '"' && byte_at(end - 1) == '"';
  if (field == log_status) return is_dash_or_digits(byte_at, begin, end, 3);
  return field != log_bytes || is_dash_or_digits(byte_at, begin, end, 0);
}

/// Looks in a line for the time, the request, the status and the bytes, wherever they are.
///
/// The request begins behind the first time in brackets that a quote follows. It ends at the first quote that a status
/// and bytes follow, or a status and the end of the line. Quotes with an escape in front count only if no other quote
/// fits: some writers have no escapes.
template <class Place, class ByteAt>
class LogParts {
 public:
  PENSTOCK_WALKS_THERE constexpr LogParts(ByteAt const& byte_at, Place begin, Place end)
      : line_end(begin), byte_at_(byte_at) {
    while (line_end < end && byte_at(line_end) != '\n') ++line_end;
    end_ = line_end != begin && byte_at(line_end - 1) == '\r' ? line_end - 1 : line_end;
    bool open = false, sought = false;
    for (Place at = begin; at < end_ && !found; ++at) {
      char const byte = byte_at(at);
      if (byte == '[') {
        time_begin = at;
        open = true;
      } else if (byte == ']') {
        time_end = at + 1;
        bool const before_quote = end_ - at > 3 && byte_at(at + 1) == ' ' && byte_at(at + 2) == '"';
        // If the test fails before one quote, it fails before each later one.
        if (open && before_quote && !sought && is_log_field(log_time, byte_at, time_begin, time_end)) {
          sought = true;
          find_status(at + 3);
        }
        open = false;
      }
    }
  }

  Place line_end;  ///< Place of the newline, or the end of the text.
  Place time_begin{}, time_end{}, status{};
  bool found = false;

 private:
  PENSTOCK_WALKS_THERE constexpr void find_status(Place from) {
    for (int escapes = 1; escapes >= 0 && !found; --escapes) {
      for (Place at = from; at < end_ && !found; ++at) {
        char const byte = byte_at_(at);
        if (byte == '\\' && escapes == 1) {
          ++at;
        } else if (byte == '"' && begins_status(at + 1)) {
          status = at + 2;
          found = true;
        }
      }
    }
  }
  /// True if these come next: a blank, three digits, and the end or a blank and a field with the bytes.
  PENSTOCK_WALKS_THERE constexpr bool begins_status(Place at) const {
    if (end_ - at < 4 || byte_at_(at) != ' ') return false;
    for (unsigned k = 1; k < 4; ++k) {
      if (digit_of(byte_at_(at + k)) > 9) return false;
    }
    at += 4;
    if (at == end_) return true;
    if (byte_at_(at) != ' ') return false;
    Place const bytes = at + 1;
    for (at = bytes; at < end_ && byte_at_(at) != ' '; ++at) {
    }
    return is_dash_or_digits(byte_at_, bytes, at, 0);
  }

  ByteAt const& byte_at_;
  Place end_{};
};

}  // namespace penstock
