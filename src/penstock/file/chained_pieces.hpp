// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "penstock/framing.hpp"
#include "penstock/framing/record_walk.hpp"

namespace penstock {

/// Cuts a file whose records lead from one to the next into pieces, each by the thread that fills its tile, all at
/// once.
///
/// A thread guesses where the first record of its piece begins, reads from there, and walks over the records. Then it
/// waits until the thread of the piece in front says where that ends. If the guess was another place, it reads again
/// from there. So each record is in one piece, in order, whatever the guesses were.
///
/// A record belongs to the piece in which it begins, or to the one behind it where it has no room in the tile. So there
/// may be more pieces than `count`: as long as there is `more`.
///
/// Threads: any.
class ChainedPieces {
 public:
  /// Reads from an offset of the file; fewer bytes than asked for only at its end.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

  /// Of a file of `size` bytes, with or without the places of records.
  ChainedPieces(Framing::OfInput const& of, std::size_t tile_bytes, std::uint64_t size, LongRecords long_records,
                bool places);

  std::uint64_t count() const noexcept { return count_; }

  struct Piece {
    std::uint64_t offset = 0;  ///< Of its first record.
    std::size_t bytes = 0;
    TileRecords records = {};
    RecordLoss loss = {};
    std::uint64_t unfinished_bytes = 0;  ///< Of a record within which the file ends: how many it has.
  };
  /// Fills `tile` with the piece of this number. What is in front of damage is in the piece.
  ///
  /// Shape:  each number once, in their order or at once.
  /// Blocks: until the pieces in front of it have been read.
  /// Throws: what `read` throws.
  Piece read(Read const& read, std::uint64_t number, std::span<std::byte> tile);

  /// True if so many pieces have been read, in front.
  bool settled(std::uint64_t pieces) const;
  /// Blocks: until that is so.
  void wait(std::uint64_t pieces) const;
  /// There is more behind all pieces that have been read.
  bool more() const;
  /// Where the file is damaged, and what of it was read, in a sentence.
  std::optional<std::string> problem() const;

 private:
  class Turn;
  /// Where a piece begins.
  struct Border {
    std::uint64_t offset = 0;
    FramingRef framing = {};  ///< Null: it is not known, behind damage.
  };
  struct Walk {
    Border begin;
    Piece piece;
    Border behind;
    std::optional<std::string> damage = {};  ///< Behind the piece.
  };
  struct Damage {
    std::string sentence;
    std::uint64_t at = 0;
    std::optional<std::uint64_t> until = {};  ///< Where records were found again.
    std::uint64_t others = 0;                 ///< Places that are damaged behind it.
  };

  std::uint64_t limit_of(std::uint64_t number) const noexcept;
  std::optional<Walk> guess(Read const& read, std::uint64_t number, std::span<std::byte> tile) const;
  std::optional<std::uint64_t> find(Read const& read, Framing const& framing, std::uint64_t begin) const;
  Walk walk(Read const& read, Border begin, std::uint64_t limit, std::span<std::byte> tile) const;
  void pass_long(Read const& read, Walk& walk, std::uint64_t length, std::span<std::byte const> beginning) const;
  void note(Walk const& walk);

  FramingRef const first_;
  std::size_t const head_;
  std::size_t const tile_bytes_;
  std::uint64_t const size_;
  std::size_t const step_;
  std::uint64_t const count_;
  LongRecords const long_records_;
  bool const wants_places_;

  mutable std::mutex mutex_;
  mutable std::array<std::condition_variable, 16> turns_;  ///< By the number of the piece that waits.
  std::uint64_t settled_ = 0;                              ///< Pieces that have been read.
  Border border_;                                          ///< Where the one behind them begins.
  FramingRef last_framing_;                                ///< That was known.
  std::optional<Damage> damage_;
};

}  // namespace penstock
