// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace penstock {

/// What BLAKE3 cuts its input into.
///
/// Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn: BLAKE3, one function, fast everywhere (2020), section 2.
inline constexpr std::size_t blake3_chunk_bytes = 1024;
inline constexpr std::size_t blake3_block_bytes = 64;
inline constexpr std::size_t blake3_value_bytes = 32;

inline constexpr std::uint32_t blake3_chunk_start = 1;
inline constexpr std::uint32_t blake3_chunk_end = 2;
inline constexpr std::uint32_t blake3_is_parent = 4;
inline constexpr std::uint32_t blake3_is_root = 8;

/// A node's chaining value: what its parent is made of.
using Blake3Value = std::array<std::uint32_t, 8>;
using Blake3Digest = std::array<std::byte, 32>;

/// The last compression of a subtree, not done yet: only code that knows the whole file knows whether this is the root.
///
/// Shape: 112 bytes, trivially copyable, the same on host and GPU.
struct Blake3Node {
  Blake3Value chaining;                 ///< The input chaining value.
  std::array<std::uint32_t, 16> block;  ///< The message as little-endian words, filled up with zeros.
  std::uint32_t length;                 ///< How many bytes of the message are input.
  std::uint32_t flags;                  ///< As the format has them, without the root's.
  std::uint64_t counter;                ///< The chunk's number; 0 for a parent.

  friend bool operator==(Blake3Node const&, Blake3Node const&) = default;
};
static_assert(sizeof(Blake3Node) == 112 && std::is_trivially_copyable_v<Blake3Node>);

/// The node of one chunk.
///
/// Shape: 0 to 1024 bytes; fewer than 1024 only at a file's end, none only for an empty file.
Blake3Node blake3_chunk(std::span<std::byte const> input, std::uint64_t chunk) noexcept;
/// The node above two subtrees that lie side by side.
Blake3Node blake3_parent(Blake3Value const& left, Blake3Value const& right) noexcept;
/// The node's value for its parent.
Blake3Value blake3_value(Blake3Node const& node) noexcept;
/// The digest of the file that has this topmost node.
Blake3Digest blake3_root(Blake3Node const& node) noexcept;

}  // namespace penstock
