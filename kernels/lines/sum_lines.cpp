// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "kernels/lines/line_summer.hpp"
#include "kernels/lines/lines_on_cuda.hpp"
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
