// SPDX-License-Identifier: Apache-2.0
// Where the records of a file or a stream begin and end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/left_out.hpp"

namespace penstock {

/// How bytes that come one after the other are records: by a delimiter, a length in front, one size, or a rule of
/// yours.
///
/// A record has its delimiter or its length in it. Records follow one another without a gap. check_framing tries a
/// framing of yours.
///
/// Threads: any, several at once.
class Framing {
 public:
  virtual ~Framing() = default;
  /// How long the record is that `bytes` begin with, also if it goes on behind them; nothing, if they do not tell.
  ///
  /// Units:  bytes, at least 1.
  /// Throws: Error, if no record begins so. The input is then not read on.
  virtual std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const = 0;
  /// How many of these bytes are whole records. They begin with a record. What is damaged behind a whole record is
  /// found once the bytes begin with it.
  ///
  /// Throws: as record_bytes, of the first record.
  virtual std::size_t whole_bytes(std::span<std::byte const> bytes) const;
  /// If records end with a delimiter, how long that is: the end of a record can then be found from any byte of it, by
  /// record_bytes, and the last record of an input may lack it. At most 2048. 0: the end of a record can be found from
  /// its beginning only.
  virtual std::size_t delimiter_bytes() const noexcept { return 0; }
  /// If all records are of one size, that size; otherwise 0.
  virtual std::size_t equal_bytes() const noexcept { return 0; }
  /// True if it can be told where records begin without the records in front of them, by find_record. All producers
  /// then read a regular file at once.
  virtual bool finds_records() const noexcept { return false; }
  /// Where the first record begins that does not begin in front of `from`: `from`, if one begins just there. The bytes
  /// are from the middle of an input, or from its middle to its `end`. Those in front of `from` are there to be looked
  /// back at. Nothing, if the bytes do not tell.
  ///
  /// The place is compared with the end of the record in front of it. If they differ, the records are read again from
  /// that end on: a wrong place costs time, and no record.
  ///
  /// Shape:  `all` begins a multiple of find_aligned bytes behind the first record of the input. Up to find_back bytes
  ///         are in front of `from`.
  virtual std::optional<std::size_t> find_record(std::span<std::byte const> /*all*/, std::size_t /*from*/,
                                                 bool /*end*/) const {
    return std::nullopt;
  }
  static constexpr std::size_t find_back = 4096, find_aligned = 64;

  /// If the first bytes of an input say how its records are, at most how many; 0: all inputs have this framing.
  virtual std::size_t head_bytes() const noexcept { return 0; }
  /// How an input is cut.
  struct OfInput {
    std::shared_ptr<Framing const> framing;
    std::size_t head = 0;  ///< Bytes in front of its first record.
  };
  /// How the input is cut that begins so. They are head_bytes, unless the whole input has fewer.
  ///
  /// Throws: Error, if no input begins so.
  virtual OfInput of_input(std::span<std::byte const> /*first*/) const { return {}; }

  /// What a record says of those behind it.
  enum class Change {
    none,
    behind,  ///< They have the framing that `behind` gives.
    part,    ///< Likewise, and the record begins a tile.
  };
  /// What the record says that these bytes begin with. Framings with a delimiter or of one size do not change.
  virtual Change change(std::span<std::byte const> /*bytes*/) const noexcept { return Change::none; }
  /// The framing of what comes behind this whole record, which changes it.
  ///
  /// Throws: Error, as record_bytes.
  virtual std::shared_ptr<Framing const> behind(std::span<std::byte const> /*record*/) const { return nullptr; }

  /// True if something is lost where the record that these bytes begin with is left out, since it does not fit into a
  /// tile. One that is not missed is looked at once it is whole, as it may be damaged.
  virtual bool is_missed(std::span<std::byte const> /*bytes*/) const noexcept { return true; }

  /// What a stage has to know of records besides their places.
  using Notes = std::array<std::uint32_t, 7>;
  /// Of all records of this framing; RecordPlaces has it.
  virtual Notes notes() const noexcept { return {}; }
  /// This is the framing behind the last of these records. Writes what a stage has to know of each of them to `more`,
  /// and changes `notes` to say so; says how many bytes it wrote.
  ///
  /// Throws: Error of kind bad_argument, if there is no room.
  virtual std::size_t write_more(std::span<std::byte const> /*records*/, std::span<std::uint32_t const> /*places*/,
                                 Notes& /*notes*/, std::span<std::byte> /*more*/) const {
    return 0;
  }
};

using FramingRef = std::shared_ptr<Framing const>;

/// Records that end with these bytes, and have them nowhere else.
///
/// Throws: Error of kind bad_argument, if there are none, or if they can overlap with themselves, as "aba" does in
/// "ababa".
FramingRef delimited_by(std::string delimiter);
/// Lines: records that end with "\n". A "\r" in front of that belongs to the line.
FramingRef lines();
/// Records of so many bytes.
///
/// Throws: Error of kind bad_argument, if it is 0.
FramingRef equal_records(std::size_t bytes);

enum class ByteOrder { big, little };
/// The length that each record has in front.
struct LengthPrefix {
  std::size_t bytes = 4;  ///< Of the length itself: 1 to 8.
  ByteOrder order = ByteOrder::big;
  std::size_t before = 0;  ///< Bytes of the record before its length.
  /// What to add to the length to get all bytes of the record. 0: it says all. Empty: the bytes of the length itself
  /// and those before it, so it counts what is behind it.
  std::optional<std::int64_t> more = {};
  std::uint64_t most = std::uint64_t{1} << 31;  ///< A record that says it is longer is an error of the input.
};
/// Records whose length is in front. As it stands: four bytes, the highest first, which do not count themselves.
///
/// Throws: Error of kind bad_argument, if `prefix` says what cannot be.
FramingRef length_prefixed(LengthPrefix prefix = {});

/// Calls `take(record)` for each whole record of these bytes, which begin with a record, and then for what is left
/// behind the last one, if that is anything and records may lack their delimiter.
///
/// Throws: as record_bytes, and what `take` throws.
template <class Take>
void each_record(Framing const& framing, std::span<std::byte const> bytes, Take take) {
  Framing const* now = &framing;
  std::shared_ptr<Framing const> changed;
  while (!bytes.empty()) {
    auto const length = now->record_bytes(bytes);
    if (!length || *length == 0 || *length > bytes.size()) break;
    auto const record = bytes.first(static_cast<std::size_t>(*length));
    if (now->change(record) != Framing::Change::none) {
      changed = now->behind(record);
      now = changed.get();
    }
    take(record);
    bytes = bytes.subspan(record.size());
  }
  if (!bytes.empty() && now->delimiter_bytes() != 0) take(bytes);
}

/// Tries a framing on a sample of its input, with each byte as a border: as of a tile, of what a pipe brings, of a
/// piece of a file. Returns what is wrong, as a sentence; nothing, if all is right.
///
/// Blocks: for a time that grows with the square of the sample; some records suffice.
std::string check_framing(Framing const& framing, std::span<std::byte const> sample);

/// What the second input of a tile begins with, if FileSource writes there where the records of the first one begin. As
/// many numbers of 32 bits follow as there are records: the first byte of each. What Framing::write_more writes is
/// behind them.
struct RecordPlaces {
  std::uint32_t records = 0;
  Framing::Notes notes = {};  ///< Framing::notes.
};
/// How large the second input must be, so that it has room for the places of all records of a tile, if none has fewer
/// than `least_record` bytes.
constexpr std::size_t record_places_bytes(std::size_t tile_bytes, std::size_t least_record) {
  return sizeof(RecordPlaces) + tile_bytes / least_record * sizeof(std::uint32_t);
}
/// Writes them, and says how many bytes they are. The first of the records is of this framing.
///
/// Shape:   `to` is aligned for numbers of 32 bits.
/// Threads: any.
/// Throws:  Error of kind bad_argument, if there is no room for all; and as record_bytes.
std::size_t write_record_places(Framing const& framing, std::span<std::byte const> records, std::span<std::byte> to);

/// What becomes of a record that does not fit into a tile.
enum class LongRecords {
  refuse,    ///< It is left out.
  truncate,  ///< Its first bytes, as many as fit, are a record without a delimiter; the others are left out.
};

/// Records that did not come through whole.
struct RecordLoss {
  std::uint64_t refused = 0;     ///< Too long, and left out.
  std::uint64_t truncated = 0;   ///< Too long, and cut.
  std::uint64_t unfinished = 0;  ///< Left out, since the input ended within them.

  bool none() const noexcept { return refused + truncated + unfinished == 0; }
  RecordLoss& operator+=(RecordLoss const& other) noexcept {
    refused += other.refused;
    truncated += other.truncated;
    unfinished += other.unfinished;
    return *this;
  }
  bool operator==(RecordLoss const&) const = default;
};
/// What was lost, an entry for each reason. If the input was `stopped`, a record that is not finished is not lost: the
/// stop came before its end.
std::vector<LeftOut> left_out_of(RecordLoss const& loss, bool stopped = false);

}  // namespace penstock
