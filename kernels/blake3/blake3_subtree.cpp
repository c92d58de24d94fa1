// SPDX-License-Identifier: Apache-2.0
#include "kernels/blake3/blake3_subtree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace penstock {
namespace {

/// Number of chunks whose values stay on the stack (4 KiB) before they are merged: a small share of a first-level
/// cache, and enough that narrow registers do not dominate near the top.
constexpr std::size_t chunks_at_once = 128;

/// Calls `work(width, start, count)` until `count` items are done: the widest does the bulk, and the narrowest that
/// holds the rest does the rest.
template <class Work>
void share_out(std::span<Blake3Width const> widths, std::size_t count, Work work) {
  std::size_t const bulk = count / widths.back().width * widths.back().width;
  if (bulk > 0) work(widths.back(), std::size_t{0}, bulk);
  if (bulk == count) return;
  auto const fits = [&](Blake3Width const& width) { return width.width >= count - bulk; };
  work(*std::ranges::find_if(widths, fits), bulk, count - bulk);
}

Blake3Value take(std::span<std::byte const> values, std::size_t index) {
  Blake3Value value;
  std::memcpy(value.data(), values.data() + index * blake3_value_bytes, blake3_value_bytes);
  return value;
}

void put(std::span<std::byte> values, std::size_t index, Blake3Value const& value) {
  std::memcpy(values.data() + index * blake3_value_bytes, value.data(), blake3_value_bytes);
}

}  // namespace

Blake3Node blake3_merge(std::span<std::byte> values, std::span<Blake3Width const> widths) noexcept {
  std::size_t count = values.size() / blake3_value_bytes;
  for (; count > 2; count = (count + 1) / 2) {
    share_out(widths, count / 2, [&](Blake3Width const& width, std::size_t start, std::size_t pairs) {
      width.parents(values.data() + start * blake3_block_bytes, pairs, values.data() + start * blake3_value_bytes);
    });
    if (count % 2 != 0) put(values, count / 2, take(values, count - 1));
  }
  return blake3_parent(take(values, 0), take(values, 1));
}

Blake3Node blake3_subtree(std::span<std::byte const> input, std::uint64_t first_chunk,
                          std::span<Blake3Width const> widths) noexcept {
  if (input.size() <= blake3_chunk_bytes) return blake3_chunk(input, first_chunk);
  std::size_t const chunks = (input.size() + blake3_chunk_bytes - 1) / blake3_chunk_bytes;
  if (chunks > chunks_at_once) {
    // The left side is the largest full subtree that leaves something for the right one.
    std::size_t const left = std::bit_floor(chunks - 1);
    std::span const left_input = input.first(left * blake3_chunk_bytes);
    return blake3_parent(blake3_value(blake3_subtree(left_input, first_chunk, widths)),
                         blake3_value(blake3_subtree(input.subspan(left_input.size()), first_chunk + left, widths)));
  }
  alignas(64) std::array<std::byte, chunks_at_once * blake3_value_bytes> values;
  std::size_t const full = input.size() / blake3_chunk_bytes;
  share_out(widths, full, [&](Blake3Width const& width, std::size_t start, std::size_t count) {
    width.chunks(input.data() + start * blake3_chunk_bytes, count, first_chunk + start,
                 values.data() + start * blake3_value_bytes);
  });
  if (full < chunks) {
    put(values, full, blake3_value(blake3_chunk(input.subspan(full * blake3_chunk_bytes), first_chunk + full)));
  }
  return blake3_merge(std::span(values).first(chunks * blake3_value_bytes), widths);
}

}  // namespace penstock
