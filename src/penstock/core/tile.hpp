// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace penstock {

/// How large the two parts of a tile are.
///
/// Units: bytes. Either may be 0. With `in_place` input and output are the same bytes and output_bytes equals
/// input_bytes.
struct TileShape {
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  bool in_place = false;

  bool operator==(TileShape const&) const = default;
};

class Pool;

/// A fixed block of pinned host memory with room for work on its way in and its result on the way out.
///
/// Threads: the holder of the tile's Loan, and no other thread.
class Tile {
 public:
  /// All of the input part, whether filled or not.
  std::span<std::byte> input() const noexcept { return input_; }
  /// All of the output part; what counts after a run is the first `produced` bytes.
  std::span<std::byte> output() const noexcept { return output_; }
  /// The part of the input that the source filled.
  std::span<std::byte const> filled_input() const noexcept { return input_.first(filled); }
  /// The part of the output that the stage produced.
  std::span<std::byte const> produced_output() const noexcept { return output_.first(produced); }
  /// Which tile of its pool this is.
  std::uint32_t index() const noexcept { return index_; }
  /// Which slab of its pool it was cut from.
  std::size_t pool_part() const noexcept { return pool_part_; }
  /// Where it goes when its Loan dies.
  Pool& home() const noexcept { return *home_; }
  /// A number that the code which lends a tile on may keep with it. It is 0 until it is set, and 0 again once the tile
  /// is home.
  ///
  /// Threads: any.
  std::uint32_t mark() const noexcept { return std::atomic_ref(mark_).load(std::memory_order_relaxed); }
  void set_mark(std::uint32_t mark) const noexcept { std::atomic_ref(mark_).store(mark, std::memory_order_relaxed); }

  std::size_t filled = 0;      ///< Bytes of the input that count; the source says.
  std::size_t produced = 0;    ///< Bytes of the output that count; the stage says.
  std::uint64_t sequence = 0;  ///< Place in the source's order; the pipeline says.
  std::uint64_t tag = 0;       ///< The source's own. FileSource and Records are sources, and use it.

 private:
  friend class Pool;
  friend class Loan;
  std::span<std::byte> input_;
  std::span<std::byte> output_;
  Pool* home_ = nullptr;
  std::uint32_t index_ = 0;
  mutable std::uint32_t mark_ = 0;
  std::uint16_t pool_part_ = 0;
  bool stranded_ = false;
};

/// Checks that the bytes that fill a tile fit into it.
///
/// Throws: Error of kind bad_argument that begins with `who`, if `filled` is beyond the input part.
void expect_filled_fits(Tile const& tile, std::string const& who);

}  // namespace penstock
