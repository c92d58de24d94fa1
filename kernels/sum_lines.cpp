// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/kernels/cuda_bodies.hpp"
#include "penstock/kernels/line_stops.hpp"
#include "penstock/kernels/line_walk.hpp"
#include "penstock/line_sums.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Bytes of one CPU block: some 50 us of work.
constexpr std::size_t cpu_grain = 262'144;

/// A field without its quotes.
FieldNumber number_in(char const* begin, char const* end, char quote) {
  FieldNumber number;
  for (; begin != end; ++begin) {
    if (quote == 0 || *begin != quote) number.take(static_cast<unsigned char>(*begin));
  }
  return number;
}

/// What walk_line finds, by stops.
WalkedLine walk_stops(StopCursor& stops, char const* begin, char const* end, LineFields const& fields) {
  WalkedLine line;
  std::uint32_t const last = std::max(fields.key, fields.number);
  char const* field_begin = begin;
  char const* escaped = nullptr;
  bool quoted = false, bracketed = false;
  for (std::uint32_t field = 0; field <= last;) {
    char const* at = stops.next();
    bool const ends = at == end || *at == '\n';
    if (!ends) {
      if (at == escaped) continue;
      if (quoted && fields.escape != 0 && *at == fields.escape) {
        escaped = at + 1;
        continue;
      }
      if (!bracketed && fields.quote != 0 && *at == fields.quote) {
        quoted = !quoted;
        continue;
      }
      if (!quoted && fields.brackets && (*at == '[' || *at == ']')) bracketed = *at == '[';
      if (quoted || bracketed || *at != fields.separator) continue;
    }
    if (field == fields.key || field == fields.number) {
      char const* const field_end = ends && at != field_begin && at[-1] == '\r' ? at - 1 : at;
      FieldNumber const number = number_in(field_begin, field_end, fields.quote);
      if (field == fields.key) {
        line.has_key = number.good();
        line.key = number.value;
      }
      if (field == fields.number) line.number = number.good() ? number.value : 0;
    }
    line.stopped = static_cast<std::uint64_t>(at - begin);
    if (ends) break;
    field_begin = at + 1;
    ++field;
  }
  return line;
}

/// The lines that begin in a part of the input.
void sum_block(std::span<std::byte const> input, std::size_t begin, std::size_t end, LineFields const& fields,
               StopSet const& set, std::span<LineGroup> groups) {
  char const* const text = reinterpret_cast<char const*>(input.data());
  char const* const text_end = text + input.size();
  auto const behind_newline = [text_end](char const* from) {
    void const* const found = std::memchr(from, '\n', static_cast<std::size_t>(text_end - from));
    return found == nullptr ? text_end : static_cast<char const*>(found) + 1;
  };
  char const* at = begin == 0 ? text : behind_newline(text + begin - 1);
  std::vector<LineGroup> own(groups.size());
  StopCursor stops(set, at, text_end);
  while (at < text + end) {
    WalkedLine const line = walk_stops(stops, at, text_end, fields);
    LineGroup& group = own[line.has_key && line.key < own.size() - 1 ? line.key : own.size() - 1];
    ++group.lines;
    group.sum += line.number;
    at = behind_newline(at + line.stopped);
    stops.seek(at);
  }
  // Other blocks add as well; a thread that reads the groups waits for the stream, which orders them.
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (own[k].lines == 0) continue;
    std::atomic_ref(groups[k].lines).fetch_add(own[k].lines, std::memory_order_relaxed);
    std::atomic_ref(groups[k].sum).fetch_add(own[k].sum, std::memory_order_relaxed);
  }
}

}  // namespace

void sum_lines(DeviceSpan<std::byte const> input, LineFields const& fields, DeviceSpan<LineGroup> groups,
               StreamRef stream, unsigned multiprocessors) {
  if (groups.size() < 2 || groups.size() > most_line_groups) {
    throw Error(ErrorKind::bad_argument, "sum_lines has " + std::to_string(groups.size()) + " groups: give it 2 to " +
                                             std::to_string(most_line_groups) + ", the last one for all other lines.");
  }
  bool const one_each = fields.separator != fields.quote && (fields.escape == 0 || fields.escape != fields.quote) &&
                        !(fields.brackets && (fields.quote == '[' || fields.quote == ']'));
  if (!one_each || fields.separator == '\n' || fields.quote == '\n' || fields.escape == '\n') {
    throw Error(ErrorKind::bad_argument,
                "Fields of lines need a separator, a quote and an escape that are different characters, no bracket and "
                "no end of a line; 0 stands for none.");
  }
  if (input.empty()) return;
  if (stream.kind() == DeviceKind::cuda) {
    return sum_lines_cuda(input, fields, groups, blocks_on(multiprocessors), stream.native());
  }
  auto const blocks = static_cast<std::uint32_t>((input.size() + cpu_grain - 1) / cpu_grain);
  stream.launch(
      blocks,
      [=, set = StopSet(fields)](KernelBlock block) {
        std::size_t const begin = block * cpu_grain;
        sum_block(input.in(block), begin, std::min(begin + cpu_grain, input.size()), fields, set, groups.in(block));
      },
      {.reads = {input},
       .blocks = modelled_blocks(multiprocessors, (input.size() + sum_lines_block_bytes - 1) / sum_lines_block_bytes),
       .block_threads = block_threads});
}

void sum_lines_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) sum_lines_prepare_cuda();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
