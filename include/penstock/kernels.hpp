// SPDX-License-Identifier: Apache-2.0
// Kernels with a body for CUDA and one for the CPU device, and the BLAKE3 tree above them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/stream.hpp"

namespace penstock {

/// Sizes of the pieces into which BLAKE3 divides its input.
///
/// Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn: BLAKE3, one function, fast everywhere (2020), section 2.
inline constexpr std::size_t blake3_chunk_bytes = 1024;
inline constexpr std::size_t blake3_block_bytes = 64;
inline constexpr std::size_t blake3_value_bytes = 32;

inline constexpr std::uint32_t blake3_chunk_start = 1;
inline constexpr std::uint32_t blake3_chunk_end = 2;
inline constexpr std::uint32_t blake3_is_parent = 4;
inline constexpr std::uint32_t blake3_is_root = 8;

/// A node's chaining value: an input of its parent.
using Blake3Value = std::array<std::uint32_t, 8>;
using Blake3Digest = std::array<std::byte, 32>;

/// The last compression of a subtree, not done yet: only code that knows the whole file knows whether this node is the
/// root.
///
/// Shape: 112 bytes, trivially copyable, the same on host and GPU.
struct Blake3Node {
  Blake3Value chaining;                 ///< The input chaining value.
  std::array<std::uint32_t, 16> block;  ///< The message as little-endian words, filled up with zeros.
  std::uint32_t length;                 ///< Number of message bytes that are input.
  std::uint32_t flags;                  ///< Flags as in the format, without the root's.
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

/// Merges the nodes of one file's tiles, in any order of arrival, into its digest.
///
/// Holds one value for each bit of the number of tiles, and one node for each tile that came before an earlier one.
///
/// Threads: one at a time.
class Blake3Tree {
 public:
  /// Takes the node of tile `index`, as blake3_tile wrote it. An empty tile after others changes nothing.
  ///
  /// Throws: Error of kind bad_argument, if there was such a tile before.
  void add(std::uint64_t index, Blake3Node const& node);
  /// The digest of a file of `tiles` tiles, at least one (an empty file's tile is empty).
  ///
  /// Throws: Error of kind bad_argument, if a tile is missing or there was one more.
  Blake3Digest finish(std::uint64_t tiles) const;
  /// Number of tiles that wait for an earlier one.
  std::size_t early() const noexcept { return early_.size(); }

 private:
  void append(Blake3Node const& node);

  /// Subtrees of the tiles before `last_`, left to right; their sizes in tiles are the bits of `appended_ - 1`.
  std::vector<Blake3Value> stack_;
  /// The last tile in order; it is merged once it is known whether another one follows.
  std::optional<Blake3Node> last_;
  std::uint64_t taken_ = 0;     ///< Tiles in order so far.
  std::uint64_t appended_ = 0;  ///< Number of them that were not empty, or the only one.
  std::map<std::uint64_t, Blake3Node> early_;
};

/// Lower-case hexadecimal, as b3sum prints it.
std::string blake3_hex(Blake3Digest const& digest);

/// Type of the elements of an array that is given as bytes.
enum class ElementType : std::uint8_t { u32, i32, u64, i64, f32, f64 };

/// Combination of two elements. Sums of integers wrap around.
enum class ReduceOperation : std::uint8_t { sum, min, max };

constexpr std::size_t element_bytes(ElementType type) {
  return type == ElementType::u32 || type == ElementType::i32 || type == ElementType::f32 ? 4 : 8;
}

/// The ElementType of a C++ type.
template <class Element>
constexpr ElementType element_type_of() {
  static_assert(std::is_arithmetic_v<Element> && (sizeof(Element) == 4 || sizeof(Element) == 8),
                "Elements are integers or floating-point numbers of 4 or 8 bytes.");
  constexpr bool large = sizeof(Element) == 8;
  if constexpr (std::is_floating_point_v<Element>) return large ? ElementType::f64 : ElementType::f32;
  if constexpr (std::is_signed_v<Element>) return large ? ElementType::i64 : ElementType::i32;
  return large ? ElementType::u64 : ElementType::u32;
}

/// Calls `body(Element{})` with the C++ type.
template <class Body>
void with_element_type(ElementType type, Body body) {
  switch (type) {
    case ElementType::u32:
      return body(std::uint32_t{});
    case ElementType::i32:
      return body(std::int32_t{});
    case ElementType::u64:
      return body(std::uint64_t{});
    case ElementType::i64:
      return body(std::int64_t{});
    case ElementType::f32:
      return body(float{});
    case ElementType::f64:
      return body(double{});
  }
}

/// to[i] = from[i] + sqrt(sin^2 x + cos^2 x), where x is the float nearest to first_index + i.
///
/// The root is 1, so a caller can check the sum: both kernels are within 3e-7 of it, plus half a unit in the last place
/// of the sum.
///
/// Shape:   from and to are memory of the stream's device, of equal length, and the same or disjoint.
/// Units:   first_index in elements; first_index + from.size() is at most 2^28. On a GPU there are no more blocks than
///          `multiprocessors` hold; 0: as many as the elements take.
/// Threads: any.
/// Blocks:  never; `to` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void transform(DeviceSpan<float const> from, std::uint64_t first_index, DeviceSpan<float> to, StreamRef stream,
               unsigned multiprocessors = 0);

/// Loads the kernel, as blake3_prepare does.
void transform_prepare(StreamRef stream);

/// The largest difference between `to`, read by the host, and the formula in double precision.
///
/// Threads: any. About 50 ns an element.
double transform_error(std::span<float const> from, std::uint64_t first_index, std::span<float const> to);

/// to[i] = one[i] + other[i]: a kernel that needs two inputs, which may have arrived on two streams.
///
/// Shape:   memory of the stream's device, all three of equal length, and the same or disjoint.
/// Threads: any.
/// Blocks:  never; `to` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void sum(DeviceSpan<float const> one, DeviceSpan<float const> other, DeviceSpan<float> to, StreamRef stream);

/// Loads the kernel, as blake3_prepare does.
void sum_prepare(StreamRef stream);

/// Adds the number of bytes of `input` with the value v to counts[v]: a histogram that grows tile by tile.
///
/// Shape:   memory of the stream's device; `counts` has 256 entries and is disjoint from `input`.
/// Units:   `multiprocessors` as transform's.
/// Threads: any.
/// Blocks:  never; `counts` is valid once `stream` has passed this call.
/// Throws:  Error, if there are not 256 counts or the launch is refused. On the CPU device a launch may allocate.
void count_bytes(DeviceSpan<std::byte const> input, DeviceSpan<std::uint64_t> counts, StreamRef stream,
                 unsigned multiprocessors = 0);

/// Loads the kernel, as blake3_prepare does.
void count_bytes_prepare(StreamRef stream);

/// Device memory that `blake3_tile` needs in addition to a tile of at most `largest_input` bytes.
///
/// Units: bytes.
std::size_t blake3_scratch_bytes(std::size_t largest_input) noexcept;

/// Loads the kernels, so that the first tile does not wait for that. Needs no data and launches nothing.
///
/// Blocks: perhaps until the device is idle: call it before the first tile.
/// Throws: Error of kind `unsupported` if `stream` is on a GPU and this build is without CUDA.
void blake3_prepare(StreamRef stream);

/// Writes the topmost Blake3Node of the subtree over `input` to `node`; Blake3Tree makes digests of them.
///
/// Shape:   input, node and scratch are memory of the stream's device, 16-byte aligned. A file's tiles have one size, a
///          power of two times 1024 bytes; only the last may be shorter. `node` is sizeof(Blake3Node) bytes.
/// Units:   first_chunk is the offset in the file of the tile's first byte / 1024.
/// Threads: any; only this call may use scratch and node until `stream` has passed it.
/// Blocks:  never; node is valid once `stream` has passed this call.
/// Throws:  Error, if a span does not fit the above or the launch is refused. On the CPU device a launch may allocate.
void blake3_tile(DeviceSpan<std::byte const> input, std::uint64_t first_chunk, DeviceSpan<std::byte> node,
                 DeviceSpan<std::byte> scratch, StreamRef stream);

/// Computes sums[j] as the sum of word j of all rows that are present: row k, if bit k % 32 of mask[k / 32] is set.
/// Other rows are not read.
///
/// Shape:   memory of the stream's device, or mapped. A row has as many words as there are sums; `rows` has whole
///          rows, one behind the other; `mask` has a bit for each, or more.
/// Threads: any.
/// Blocks:  never; `sums` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void sum_present_rows(DeviceSpan<std::uint32_t const> rows, DeviceSpan<std::uint32_t const> mask,
                      DeviceSpan<std::uint64_t> sums, StreamRef stream);

/// Loads the kernel, as blake3_prepare does.
void sum_present_rows_prepare(StreamRef stream);

}  // namespace penstock
