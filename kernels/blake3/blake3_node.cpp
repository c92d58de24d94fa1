// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/blake3/blake3_rounds.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

static_assert(std::endian::native == std::endian::little,
              "BLAKE3's words are little-endian, and so must the machine be");

Blake3Value compress(Blake3Node const& node, std::uint32_t more_flags) noexcept {
  std::array<std::uint32_t, 16> state;
  std::ranges::copy(node.chaining, state.begin());
  std::copy_n(blake3_start, 4, state.begin() + 8);
  state[12] = static_cast<std::uint32_t>(node.counter);
  state[13] = static_cast<std::uint32_t>(node.counter >> 32);
  state[14] = node.length;
  state[15] = node.flags | more_flags;
  Blake3Rounds<Blake3OneWord>::mix(state.data(), node.block.data());
  Blake3Value value;
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = state[i] ^ state[i + 8];
  return value;
}

}  // namespace

Blake3Node blake3_chunk(std::span<std::byte const> input, std::uint64_t chunk) noexcept {
  Blake3Node node{
      .chaining = std::to_array(blake3_start), .block = {}, .length = 0, .flags = blake3_chunk_start, .counter = chunk};
  for (; input.size() > blake3_block_bytes; input = input.subspan(blake3_block_bytes)) {
    std::memcpy(node.block.data(), input.data(), blake3_block_bytes);
    node.length = blake3_block_bytes;
    node.chaining = compress(node, 0);
    node.flags = 0;
  }
  node.block = {};
  if (!input.empty()) std::memcpy(node.block.data(), input.data(), input.size());
  node.length = static_cast<std::uint32_t>(input.size());
  node.flags |= blake3_chunk_end;
  return node;
}

Blake3Node blake3_parent(Blake3Value const& left, Blake3Value const& right) noexcept {
  Blake3Node node{.chaining = std::to_array(blake3_start),
                  .block = {},
                  .length = blake3_block_bytes,
                  .flags = blake3_is_parent,
                  .counter = 0};
  std::ranges::copy(left, node.block.begin());
  std::ranges::copy(right, node.block.begin() + 8);
  return node;
}

Blake3Value blake3_value(Blake3Node const& node) noexcept {
  return compress(node, 0);
}

Blake3Digest blake3_root(Blake3Node const& node) noexcept {
  // The counter of a root is its output block's number, and a chunk that is the root has number 0 as well.
  return std::bit_cast<Blake3Digest>(compress(node, blake3_is_root));
}

}  // namespace penstock
