// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock {

/// How to cut a whole into tiles so that little of it goes through alone: the first piece is small and each is twice
/// the one before, up to a tile; at the end they get smaller again. While the first piece goes up and the last comes
/// down nothing overlaps, so of a short run that is a good part.
///
/// Units:   bytes.
/// Threads: any; it never changes.
class Ramp {
 public:
  /// What piece `number` is of the whole.
  struct Piece {
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
    bool operator==(Piece const&) const = default;
  };

  /// Of 2^25 floats in and out of an H200, in tiles of 4 MiB, nothing made more: 2.87 to 2.89 ms with any from 64 KiB
  /// to 1 MiB, and 2.85 without a ramp (bench/flow/one_shot_bench, `smallest_KiB`).
  static constexpr std::size_t default_smallest = std::size_t{256} << 10;

  /// Pieces of at most `tile_bytes`. All but one of them, the one before the way down, are of `smallest` times a power
  /// of two, or of `tile_bytes`.
  ///
  /// Throws: Error of kind bad_argument, if tile or smallest piece are of 0 bytes.
  Ramp(std::uint64_t total_bytes, std::size_t tile_bytes, std::size_t smallest = default_smallest);

  std::uint64_t size() const noexcept { return steps_ + middle_ + steps_; }
  /// A piece, counted from 0, of those that there are.
  Piece operator[](std::uint64_t number) const noexcept;

 private:
  std::uint64_t climbed(std::uint64_t steps) const noexcept { return smallest_ * ((std::uint64_t{1} << steps) - 1); }

  std::uint64_t total_;
  std::uint64_t smallest_;
  std::uint64_t steps_ = 0;   ///< Pieces on the way up, and on the way down.
  std::uint64_t each_ = 0;    ///< Bytes of those in between.
  std::uint64_t middle_ = 0;  ///< Pieces in between.
};

}  // namespace penstock
