// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/lines/digit_walk.hpp"
#include "kernels/lines/json_stops.hpp"
#include "kernels/lines/line_stops.hpp"
#include "kernels/lines/lines_on_cuda.hpp"
#include "kernels/lines/literal_search.hpp"
#include "kernels/lines/stop_cursor.hpp"
#include "penstock/error.hpp"
#include "penstock/lines.hpp"

namespace penstock {
namespace {

/// Bytes of one CPU block: some 50 us of work.
constexpr std::size_t cpu_grain = 262'144;

/// The same with the characters of its format.
LineFields with_characters_of_format(LineFields fields) {
  if (fields.format == LineFormat::separated) return fields;
  bool const log = fields.format == LineFormat::access_log;
  fields.separator = ' ';
  fields.quote = log ? '"' : '\0';
  fields.escape = log ? '\\' : '\0';
  fields.brackets = log;
  return fields;
}
/// True if no character has two meanings.
bool can_be_told(LineFields const& fields) {
  std::string meanings{'\n', fields.separator};
  for (char const each : {fields.quote, fields.escape}) {
    if (each != 0) meanings += each;
  }
  if (fields.brackets) meanings += "[]";
  std::ranges::sort(meanings);
  return std::ranges::adjacent_find(meanings) == meanings.end();
}

template <LineWalk how>
using StopsOf = std::conditional_t<how == LineWalk::json, JsonStopSet, StopSet>;

/// Adds up the lines of a text.
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

/// Lines and groups of one block.
struct BlockOfLines {
  std::span<char const> text;
  std::size_t begin, end;
  std::span<LineGroup> groups;
  std::span<LineReasons> reasons;
};

template <LineWalk how, class Stops>
void add_block(BlockOfLines const& block, Stops const& set) {
  LineSummer<how, Stops> summer(block.text, set, block.groups.size());
  summer.add_lines(block.begin, block.end);
  summer.give(block.groups, block.reasons);
}
#if defined(__SSE2__)
// All functions called by it are compiled once more for such processors.
__attribute__((target("avx2,bmi,bmi2,pclmul,popcnt"), flatten)) void add_block_by_32(BlockOfLines const& block,
                                                                                     StopSet const& set) {
  add_block<LineWalk::digits>(block, StopSetBy<32>(set));
}
__attribute__((target("avx512bw,bmi,bmi2,pclmul,popcnt"), flatten)) void add_block_by_64(BlockOfLines const& block,
                                                                                         StopSet const& set) {
  add_block<LineWalk::digits>(block, StopSetBy<64>(set));
}
#endif
template <LineWalk how>
void add_block_as_can_be(BlockOfLines const& block, StopsOf<how> const& set) {
#if defined(__SSE2__)
  if constexpr (how == LineWalk::digits) {
    if (set.at_once() == 64) return add_block_by_64(block, set);
    if (set.at_once() == 32) return add_block_by_32(block, set);
  }
#endif
  add_block<how>(block, set);
}

template <LineWalk how>
void sum_on_cpu(DeviceSpan<std::byte const> input, StopsOf<how> const& set, DeviceSpan<std::byte const> literals,
                DeviceSpan<LineGroup> groups, DeviceSpan<LineReasons> reasons, StreamRef stream,
                unsigned multiprocessors) {
  auto const blocks = static_cast<std::uint32_t>((input.size() + cpu_grain - 1) / cpu_grain);
  stream.launch(
      blocks,
      [=](KernelBlock block) {
        std::size_t const begin = block * cpu_grain, end = std::min(begin + cpu_grain, input.size());
        auto const bytes = input.in(block);
        std::span<char const> const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
        BlockOfLines const lines{text, begin, end, groups.in(block), reasons.in(block)};
        if (literals.empty()) return add_block_as_can_be<how>(lines, set);
        LineSummer<how> summer(text, set, groups.size());
        summer.add_lines(begin, end, {reinterpret_cast<unsigned char const*>(literals.in(block).data())});
        summer.give(lines.groups, lines.reasons);
      },
      {.reads = {input},
       .blocks = modelled_blocks(multiprocessors, (input.size() + sum_lines_block_bytes - 1) / sum_lines_block_bytes),
       .block_threads = block_threads});
}
template <LineWalk how>
void sum_each_on_cpu(std::span<DeviceSpan<std::byte const> const> inputs, LineFields const& fields,
                     DeviceSpan<std::byte const> literals, DeviceSpan<LineGroup> groups,
                     DeviceSpan<LineReasons> reasons, StreamRef stream, unsigned multiprocessors) {
  StopsOf<how> const set(fields);
  for (auto const& input : inputs) {
    if (!input.empty()) sum_on_cpu<how>(input, set, literals, groups, reasons, stream, multiprocessors);
  }
}

}  // namespace

void sum_lines(std::span<DeviceSpan<std::byte const> const> inputs, LineFields const& line_fields,
               DeviceSpan<std::byte const> literals, DeviceSpan<LineGroup> groups, DeviceSpan<LineReasons> reasons,
               StreamRef stream, unsigned multiprocessors) {
  LineFields const fields = with_characters_of_format(line_fields);
  if (groups.size() < 2 || groups.size() > most_line_groups) {
    throw Error(ErrorKind::bad_argument, "sum_lines has " + std::to_string(groups.size()) + " groups: give it 2 to " +
                                             std::to_string(most_line_groups) + ", the last one for all other lines.");
  }
  if (fields.places > most_line_places) {
    throw Error(ErrorKind::bad_argument, "Sums of lines have at most " + std::to_string(most_line_places) +
                                             " places behind the point, not " + std::to_string(fields.places) + ".");
  }
  if (fields.format == LineFormat::separated && !can_be_told(fields)) {
    throw Error(ErrorKind::bad_argument,
                "Fields of lines need a separator, a quote and an escape that are different characters, no bracket and "
                "no end of a line; 0 stands for none.");
  }
  if (stream.kind() == DeviceKind::cuda) {
    for (; !inputs.empty(); inputs = inputs.subspan(std::min(inputs.size(), sum_lines_inputs))) {
      sum_lines_cuda(inputs.first(std::min(inputs.size(), sum_lines_inputs)), fields, literals, groups, reasons,
                     blocks_on(multiprocessors), stream.native());
    }
    return;
  }
  LineWalk const how = walk_of(fields);
  auto const sum = how == LineWalk::json     ? sum_each_on_cpu<LineWalk::json>
                   : how == LineWalk::values ? sum_each_on_cpu<LineWalk::values>
                                             : sum_each_on_cpu<LineWalk::digits>;
  sum(inputs, fields, literals, groups, reasons, stream, multiprocessors);
}

FirstTime first_time(std::string_view text, LineFields fields) {
  fields = with_characters_of_format(fields);
  fields.group_seconds = 1;
  fields.first_second = -(std::int64_t{1} << 62U);  // This is before all times, which have less than 60 bits.
  FirstTime first;
  auto const first_key = [&](auto summer) { return summer.first_key(LineReason::no_year, first.without_year); };
  auto const key = fields.format == LineFormat::json
                       ? first_key(LineSummer<LineWalk::json>(text, JsonStopSet(fields), 0))
                       : first_key(LineSummer<LineWalk::values>(text, StopSet(fields), 0));
  if (key) first.seconds = static_cast<std::int64_t>(*key) + fields.first_second;
  return first;
}

void sum_lines_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) sum_lines_prepare_cuda();
}

}  // namespace penstock
