// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/lines/digit_walk.hpp"
#include "kernels/lines/json_stops.hpp"
#include "kernels/lines/line_stops.hpp"
#include "kernels/lines/literal_search.hpp"
#include "kernels/lines/stop_cursor.hpp"
#include "penstock/lines.hpp"

namespace penstock {

/// What a way to walk looks for.
template <LineWalk how>
using StopsOf = std::conditional_t<how == LineWalk::json, JsonStopSet, StopSet>;

/// Adds up the lines of a text.
///
/// Threads: one at a time; `give` is for groups that others add to meanwhile.
template <LineWalk how, class Stops = StopsOf<how>>
class LineSummer {
 public:
  LineSummer(std::span<char const> text, Stops const& set, std::size_t groups)
      : text_(text), fields_(set.fields()), stops_(set, text), own_(groups) {}

  /// Adds the lines that begin from `begin` on, but before `end`.
  void add_lines(std::size_t begin, std::size_t end) {
    for (std::size_t at = first_line(begin); at < end;) at = add_line(at);
  }
  /// The same for lines that have one of the literals.
  void add_lines(std::size_t begin, std::size_t end, LiteralTable const& literals) {
    std::size_t const first = first_line(begin);
    if (first >= end) return;
    std::size_t const last_end = behind_newline(end - 1);
    LiteralSearch search(text_, literals, first, last_end);
    for (std::size_t at = search.line_from(first); at < last_end;) {
      std::size_t const next = add_line(at);
      at = next < last_end ? search.line_from(next) : last_end;
    }
  }
  /// The key of the first line that has one. `has_reason` becomes true if a line before it has this reason.
  std::optional<std::uint64_t> first_key(LineReason reason, bool& has_reason) {
    for (std::size_t at = 0; at < text_.size();) {
      WalkedLine const line = walk(at);
      if (line.has_key()) return line.key;
      has_reason = has_reason || line.key_reason == reason;
      at = line.goes_on ? line.stopped : behind_newline(line.stopped);
    }
    return std::nullopt;
  }
  /// Other calls may add to the same groups; a thread that reads them waits for the stream, which orders them.
  void give(std::span<LineGroup> groups, std::span<LineReasons> reasons) const {
    for (std::size_t k = 0; k < own_.size(); ++k) {
      if (own_[k].lines == 0) continue;
      add(own_[k].lines, groups[k].lines);
      std::uint64_t const before = std::atomic_ref(groups[k].sum).fetch_add(own_[k].sum, std::memory_order_relaxed);
      add(own_[k].high + (before + own_[k].sum < before ? 1 : 0), groups[k].high);
      add(own_[k].without, groups[k].without);
    }
    if (reasons.empty()) return;
    for (std::size_t k = 0; k < line_reasons; ++k) {
      add(reasons_.keys[k], reasons[0].keys[k]);
      add(reasons_.numbers[k], reasons[0].numbers[k]);
    }
    add(reasons_.open_quotes, reasons[0].open_quotes);
    raise(reasons_.largest, reasons[0].largest);
    raise(reasons_.before, reasons[0].before);
  }

 private:
  template <class Number>
  static void add(Number number, Number& to) {
    if (number != 0) std::atomic_ref(to).fetch_add(number, std::memory_order_relaxed);
  }
  static void raise(std::uint64_t number, std::uint64_t& most) {
    std::atomic_ref const there(most);
    for (std::uint64_t known = there.load(std::memory_order_relaxed); known < number;) {
      if (there.compare_exchange_weak(known, number, std::memory_order_relaxed)) break;
    }
  }
  std::size_t position(void const* found) const {
    return static_cast<std::size_t>(static_cast<char const*>(found) - text_.data());
  }
  std::size_t behind_newline(std::size_t from) const {
    void const* const found = std::memchr(text_.data() + from, '\n', text_.size() - from);
    return found == nullptr ? text_.size() : position(found) + 1;
  }
  std::size_t first_line(std::size_t begin) const { return begin == 0 ? 0 : behind_newline(begin - 1); }
  WalkedLine walk(std::size_t at) {
    stops_.seek(at);
    TextBytes const byte_at{text_.data()};
    if constexpr (how == LineWalk::json) {
      return JsonWalk(stops_, byte_at, at, text_.size(), fields_).walk();
    } else if constexpr (how == LineWalk::digits) {
      return DigitWalk(stops_, text_, fields_).walk(at);
    } else {
      return walk_line<how>(stops_, byte_at, at, text_.size(), fields_);
    }
  }
  std::size_t add_line(std::size_t at) {
    WalkedLine line = add_text(at);
    if constexpr (how == LineWalk::json) {
      while (line.goes_on) line = add_text(line.stopped);
      return behind_newline(line.stopped);  // JsonWalk goes on with a copy of the cursor.
    } else {
      bool in_quotes = false;
      std::size_t const next = stops_.next_line(in_quotes);
      if (in_quotes) ++reasons_.open_quotes;
      return next;
    }
  }
  WalkedLine add_text(std::size_t at) {
    WalkedLine const line = walk(at);
    bool const has_group = line.has_key() && line.key < own_.size() - 1;
    own_[has_group ? line.key : own_.size() - 1] += group_of<how>(line, fields_);
    if (!has_group || !line.has_number()) count_reasons(line, has_group);
    return line;
  }
  void count_reasons(WalkedLine const& line, bool has_group) {
    if (!line.has_number()) ++reasons_.numbers[static_cast<std::size_t>(line.number_reason)];
    if (has_group) return;
    LineReason const reason = line.has_key() ? LineReason::outside : line.key_reason;
    ++reasons_.keys[static_cast<std::size_t>(reason)];
    if (reason != LineReason::outside) return;
    std::uint64_t& farthest = line.has_key() ? reasons_.largest : reasons_.before;
    farthest = std::max(farthest, line.key);
  }

  std::span<char const> const text_;
  LineFields const& fields_;
  StopCursor<Stops> stops_;
  std::vector<LineGroup> own_;
  LineReasons reasons_;
};

}  // namespace penstock
