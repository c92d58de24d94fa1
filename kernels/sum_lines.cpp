// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/kernels/cuda_bodies.hpp"
#include "penstock/kernels/line_stops.hpp"
#include "penstock/line_sums.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Bytes of one CPU block: some 50 us of work.
constexpr std::size_t cpu_grain = 262'144;

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

/// The lines that begin in a part of the input.
void sum_block(std::span<char const> text, std::size_t begin, std::size_t end, StopSet const& set,
               std::span<LineGroup> groups) {
  auto const behind_newline = [text](std::size_t from) {
    void const* const found = std::memchr(text.data() + from, '\n', text.size() - from);
    return found == nullptr ? text.size() : static_cast<std::size_t>(static_cast<char const*>(found) - text.data()) + 1;
  };
  auto const byte_at = [bytes = text.data()](std::size_t at) { return bytes[at]; };
  std::vector<LineGroup> own(groups.size());
  StopCursor stops(set, text);
  for (std::size_t at = begin == 0 ? 0 : behind_newline(begin - 1); at < end;) {
    stops.seek(at);
    WalkedLine const line = walk_line(stops, byte_at, at, text.size(), set.fields());
    LineGroup& group = own[line.has_key && line.key < own.size() - 1 ? line.key : own.size() - 1];
    ++group.lines;
    group.sum += line.number;
    at = behind_newline(line.stopped);
  }
  // Other blocks add as well; a thread that reads the groups waits for the stream, which orders them.
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (own[k].lines == 0) continue;
    std::atomic_ref(groups[k].lines).fetch_add(own[k].lines, std::memory_order_relaxed);
    std::atomic_ref(groups[k].sum).fetch_add(own[k].sum, std::memory_order_relaxed);
  }
}

void sum_on_cpu(DeviceSpan<std::byte const> input, StopSet const& set, DeviceSpan<LineGroup> groups, StreamRef stream,
                unsigned multiprocessors) {
  auto const blocks = static_cast<std::uint32_t>((input.size() + cpu_grain - 1) / cpu_grain);
  stream.launch(
      blocks,
      [=](KernelBlock block) {
        std::size_t const begin = block * cpu_grain;
        auto const bytes = input.in(block);
        sum_block({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, begin,
                  std::min(begin + cpu_grain, input.size()), set, groups.in(block));
      },
      {.reads = {input},
       .blocks = modelled_blocks(multiprocessors, (input.size() + sum_lines_block_bytes - 1) / sum_lines_block_bytes),
       .block_threads = block_threads});
}

}  // namespace

void sum_lines(std::span<DeviceSpan<std::byte const> const> inputs, LineFields const& fields,
               DeviceSpan<LineGroup> groups, StreamRef stream, unsigned multiprocessors) {
  if (groups.size() < 2 || groups.size() > most_line_groups) {
    throw Error(ErrorKind::bad_argument, "sum_lines has " + std::to_string(groups.size()) + " groups: give it 2 to " +
                                             std::to_string(most_line_groups) + ", the last one for all other lines.");
  }
  if (!can_be_told(fields)) {
    throw Error(ErrorKind::bad_argument,
                "Fields of lines need a separator, a quote and an escape that are different characters, no bracket and "
                "no end of a line; 0 stands for none.");
  }
  if (stream.kind() == DeviceKind::cuda) {
    for (; !inputs.empty(); inputs = inputs.subspan(std::min(inputs.size(), sum_lines_inputs))) {
      sum_lines_cuda(inputs.first(std::min(inputs.size(), sum_lines_inputs)), fields, groups,
                     blocks_on(multiprocessors), stream.native());
    }
    return;
  }
  StopSet const set(fields);
  for (auto const& input : inputs) {
    if (!input.empty()) sum_on_cpu(input, set, groups, stream, multiprocessors);
  }
}

void sum_lines_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) sum_lines_prepare_cuda();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
