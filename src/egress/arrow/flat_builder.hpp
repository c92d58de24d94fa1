// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace penstock {

/// Builds a flatbuffer from its end to its beginning: objects are written before the table that refers to them.
///
/// Threads: one at a time.
/// Source:  Google, FlatBuffers internals.
class FlatBuilder {
 public:
  /// Beginning of an object, counted from the end of the buffer. 0: nothing.
  using Place = std::uint32_t;

  Place text(std::string_view text);
  /// A vector of the objects at these places.
  Place list(std::span<Place const> places);
  /// A vector of consecutive structs of 8-byte numbers.
  Place structs(std::span<std::int64_t const> numbers, std::size_t numbers_each);

  /// Begins a table. Its members follow, each at the slot that its schema gives it.
  void begin_table();
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void number(std::size_t slot, Number value) {
    put(value);
    mark(slot);
  }
  void pointer(std::size_t slot, Place place);
  Place end_table();

  /// The buffer, whose root is the table at `root`. It is a multiple of 8 bytes long.
  std::vector<std::byte> finish(Place root);

 private:
  Place here() const noexcept { return static_cast<Place>(reversed_.size()); }
  /// Makes the place behind `bytes` more bytes a multiple of `alignment`.
  void align(std::size_t alignment, std::size_t bytes);
  template <class Number>
  void put(Number value) {
    static_assert(std::endian::native == std::endian::little, "Arrow's numbers begin with their lowest byte");
    align(sizeof(Number), sizeof(Number));
    std::byte bytes[sizeof(Number)];
    std::memcpy(bytes, &value, sizeof(Number));
    reversed_.insert(reversed_.end(), std::rbegin(bytes), std::rend(bytes));
  }
  void put_pointer(Place place);
  void mark(std::size_t slot);

  std::vector<std::byte> reversed_;
  Place table_ = 0;           ///< Beginning of the members of the table that is being built.
  std::vector<Place> slots_;  ///< Its members.
};

}  // namespace penstock
