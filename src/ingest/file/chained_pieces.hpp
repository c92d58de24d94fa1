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

#include "ingest/framing/record_walk.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {

/// Cuts a file whose records lead from one to the next into pieces: each thread cuts the piece of the tile that it
/// fills, and all run at once.
///
/// A thread guesses the beginning of its piece's first record, reads from there, and walks over the records. Then it
/// waits until the thread of the preceding piece states its end. If the guess was another place, it reads again from
/// that end. Each record is thus in one piece, in order, whatever the guesses were.
///
/// A record belongs to the piece in which it begins, or to the following one if it has no room in the tile. There may
/// therefore be more pieces than `count`, as long as `more` is true.
///
/// Threads: any.
class ChainedPieces {
 public:
  /// Reads from an offset of the file; fewer bytes than asked for only at its end.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

  /// Cuts a file of `size` bytes, with or without the places of records.
  ChainedPieces(Framing::OfInput const& of, std::size_t tile_bytes, std::uint64_t size, LongRecords long_records,
                bool places);

  std::uint64_t count() const noexcept { return count_; }

  struct Piece {
    std::uint64_t offset = 0;  ///< Offset of its first record.
    std::size_t bytes = 0;
    TileRecords records = {};
    RecordLoss loss = {};
    std::uint64_t unfinished_bytes = 0;  ///< Size of the incomplete record at the end of the file.
  };
  /// Fills `tile` with the piece of this number. Records in front of damage are in the piece.
  ///
  /// Shape:  each number once, in their order or at once.
  /// Blocks: until the pieces in front of it have been read.
  /// Throws: what `read` throws.
  Piece read(Read const& read, std::uint64_t number, std::span<std::byte> tile);

  /// True if this number of pieces have been read, from the first one on.
  bool settled(std::uint64_t pieces) const;
  /// Blocks: until this number of pieces is settled.
  void wait(std::uint64_t pieces) const;
  /// True if there is more data behind all pieces that have been read.
  bool more() const;
  /// A sentence on the damage of the file and the parts that were read.
  std::optional<std::string> problem() const;

 private:
  class Turn;
  /// Beginning of a piece.
  struct Border {
    std::uint64_t offset = 0;
    FramingRef framing = {};  ///< Null: not known, behind damage.
  };
  struct Walk {
    Border begin;
    Piece piece;
    Border behind;
    std::optional<std::string> damage = {};  ///< Damage behind the piece.
  };
  struct Damage {
    std::string sentence;
    std::uint64_t at = 0;
    std::optional<std::uint64_t> until = {};  ///< Place at which records were found again.
    std::uint64_t others = 0;                 ///< Number of further damaged places behind it.
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
  mutable std::array<std::condition_variable, 16> turns_;  ///< Indexed by the number of the waiting piece.
  std::uint64_t settled_ = 0;                              ///< Pieces that have been read.
  Border border_;                                          ///< Beginning of the piece behind them.
  FramingRef last_framing_;                                ///< The last framing that was known.
  std::optional<Damage> damage_;
};

}  // namespace penstock
