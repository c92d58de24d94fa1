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
/// A record has its delimiter or its length in it. Records follow one another without a gap.
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
  /// True if the beginning of a record can be told from other bytes, by find_record.
  virtual bool finds_records() const noexcept { return false; }
  /// Where the first record begins in these bytes, which are from the middle of an input, or from its middle to its
  /// `end`; nothing, if they do not tell. If it is wrong, the pieces of the file do not fit together, and the file
  /// fails.
  virtual std::optional<std::size_t> find_record(std::span<std::byte const> /*bytes*/, bool /*end*/) const {
    return std::nullopt;
  }

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
  /// What a stage has to know of the records of one input; RecordPlaces has it.
  virtual std::array<std::uint32_t, 3> notes() const noexcept { return {}; }
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
  std::int64_t more = 4;   ///< What to add to the length to get all bytes of the record. 0: it says all.
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
  while (!bytes.empty()) {
    auto const length = framing.record_bytes(bytes);
    if (!length || *length == 0 || *length > bytes.size()) break;
    take(bytes.first(static_cast<std::size_t>(*length)));
    bytes = bytes.subspan(static_cast<std::size_t>(*length));
  }
  if (!bytes.empty() && framing.delimiter_bytes() != 0) take(bytes);
}

/// What the second input of a tile begins with, if FileSource writes there where the records of the first one begin. As
/// many numbers of 32 bits follow as there are records: the first byte of each.
struct RecordPlaces {
  std::uint32_t records = 0;
  std::array<std::uint32_t, 3> notes = {};  ///< Framing::notes.
};
/// How large the second input must be, so that it has room for the places of all records of a tile, if none has fewer
/// than `least_record` bytes.
constexpr std::size_t record_places_bytes(std::size_t tile_bytes, std::size_t least_record) {
  return sizeof(RecordPlaces) + tile_bytes / least_record * sizeof(std::uint32_t);
}
/// Writes them, and says how many bytes they are.
///
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
/// What was lost, an entry for each reason.
std::vector<LeftOut> left_out_of(RecordLoss const& loss);

}  // namespace penstock
