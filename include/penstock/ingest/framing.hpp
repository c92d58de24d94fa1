// SPDX-License-Identifier: Apache-2.0
// Division of a file or a stream into records; captures of packets among them.
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

namespace penstock {

/// Division of consecutive bytes into records: by a delimiter, a length in front, one size, or a rule of yours.
///
/// A record has its delimiter or its length in it. Records follow one another without a gap. check_framing tries a
/// framing of yours.
///
/// Threads: any, several at once.
class Framing {
 public:
  virtual ~Framing() = default;
  /// Length of the record at the beginning of `bytes`, even if it continues behind them; nothing if they are too few to
  /// tell.
  ///
  /// Units:  bytes, at least 1.
  /// Throws: Error, if no record can begin with these bytes. The input is then not read further.
  virtual std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const = 0;
  /// Number of these bytes that belong to whole records. The bytes begin with a record. Damage behind a whole record is
  /// detected once the bytes begin with it.
  ///
  /// Throws: as record_bytes, of the first record.
  virtual std::size_t whole_bytes(std::span<std::byte const> bytes) const;
  /// Length of the delimiter, if records end with one: the end of a record can then be found from any of its bytes, by
  /// record_bytes, and the last record of an input may lack the delimiter. At most 2048. 0: the end of a record can be
  /// found from its beginning only.
  virtual std::size_t delimiter_bytes() const noexcept { return 0; }
  /// Size of the records if all are of one size; otherwise 0.
  virtual std::size_t equal_bytes() const noexcept { return 0; }
  /// True if find_record finds the beginning of a record without the records in front of it. All producers then read a
  /// regular file at once.
  virtual bool finds_records() const noexcept { return false; }
  /// Beginning of the first record at or behind `from`. The bytes are from the middle of an input, or from its middle
  /// to its `end`. The bytes in front of `from` are for looking back. Nothing if the bytes do not tell.
  ///
  /// The result is compared with the end of the preceding record. If they differ, the records are read again from that
  /// end: a wrong result costs time, but loses no record.
  ///
  /// Shape:  `all` begins a multiple of find_aligned bytes behind the first record of the input. Up to find_back bytes
  ///         are in front of `from`.
  virtual std::optional<std::size_t> find_record(std::span<std::byte const> /*all*/, std::size_t /*from*/,
                                                 bool /*end*/) const {
    return std::nullopt;
  }
  static constexpr std::size_t find_back = 4096, find_aligned = 64;

  /// Maximum number of first bytes of an input that determine its framing; 0: all inputs have this framing.
  virtual std::size_t head_bytes() const noexcept { return 0; }
  /// Framing of one input.
  struct OfInput {
    std::shared_ptr<Framing const> framing;
    std::size_t head = 0;  ///< Bytes in front of its first record.
  };
  /// Framing of an input that begins with these bytes. There are head_bytes of them, unless the whole input has fewer.
  ///
  /// Throws: Error, if no input can begin with these bytes.
  virtual OfInput of_input(std::span<std::byte const> /*first*/) const { return {}; }

  /// Effect of a record on the framing of the records behind it.
  enum class Change {
    none,
    behind,  ///< They have the framing that `behind` gives.
    part,    ///< Likewise, and the record begins a tile.
  };
  /// Effect of the record at the beginning of these bytes. Framings with a delimiter or of one size do not change.
  virtual Change change(std::span<std::byte const> /*bytes*/) const noexcept { return Change::none; }
  /// Framing of the bytes behind this whole record, which changes it.
  ///
  /// Throws: Error, as record_bytes.
  virtual std::shared_ptr<Framing const> behind(std::span<std::byte const> /*record*/) const { return nullptr; }

  /// True if data is lost when the record at the beginning of these bytes, which does not fit into a tile, is left out.
  /// A record that is not missed is still checked for damage once it is whole.
  virtual bool is_missed(std::span<std::byte const> /*bytes*/) const noexcept { return true; }

  /// Information that a stage needs about records in addition to their places.
  using Notes = std::array<std::uint32_t, 7>;
  /// Notes that hold for all records of this framing; RecordPlaces contains them.
  virtual Notes notes() const noexcept { return {}; }
  /// This is the framing behind the last of these records. Writes the stage's information on each record to `more`,
  /// changes `notes` accordingly, and returns the number of bytes written.
  ///
  /// Throws: Error of kind bad_argument, if there is no room.
  virtual std::size_t write_more(std::span<std::byte const> /*records*/, std::span<std::uint32_t const> /*places*/,
                                 Notes& /*notes*/, std::span<std::byte> /*more*/) const {
    return 0;
  }
};

using FramingRef = std::shared_ptr<Framing const>;

/// Records that end with this delimiter and do not contain it elsewhere.
///
/// Throws: Error of kind bad_argument, if the delimiter is empty, or can overlap with itself, as "aba" does in "ababa".
FramingRef delimited_by(std::string delimiter);
/// Lines: records that end with "\n". A "\r" in front of that belongs to the line.
FramingRef lines();
/// Records of this fixed size.
///
/// Throws: Error of kind bad_argument, if it is 0.
FramingRef equal_records(std::size_t bytes);

enum class ByteOrder { big, little };
/// The length field in front of each record.
struct LengthPrefix {
  std::size_t bytes = 4;  ///< Size of the length field itself: 1 to 8.
  ByteOrder order = ByteOrder::big;
  std::size_t before = 0;  ///< Bytes of the record before its length.
  /// Number to add to the length to get the size of the whole record. 0: the length counts all bytes. Empty: the size
  /// of the length field plus `before`, so the length counts the bytes behind it.
  std::optional<std::int64_t> more = {};
  std::uint64_t most = std::uint64_t{1} << 31;  ///< A record with a greater size is an error of the input.
};
/// Records with their length in front. Default: four bytes, big-endian, which do not count themselves.
///
/// Throws: Error of kind bad_argument, if `prefix` is not valid.
FramingRef length_prefixed(LengthPrefix prefix = {});

/// Calls `take(record)` for each whole record of these bytes, which begin with a record, and then for the bytes behind
/// the last one, if there are any and records may lack their delimiter.
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

/// Tests a framing on a sample of its input, with a border at each byte: borders of tiles, of reads from a pipe, and of
/// parts of a file. Returns the problem as a sentence, or an empty text.
///
/// Blocks: for a time that grows with the square of the sample; some records suffice.
std::string check_framing(Framing const& framing, std::span<std::byte const> sample);

/// The head of the second input of a tile, if FileSource writes the places of the first input's records there. One
/// number of 32 bits per record follows: the offset of its first byte. The output of Framing::write_more comes behind
/// them.
struct RecordPlaces {
  std::uint32_t records = 0;
  Framing::Notes notes = {};  ///< Framing::notes.
};
/// Minimum size of the second input for the places of all records of a tile, if none has fewer than `least_record`
/// bytes.
constexpr std::size_t record_places_bytes(std::size_t tile_bytes, std::size_t least_record) {
  return sizeof(RecordPlaces) + tile_bytes / least_record * sizeof(std::uint32_t);
}
/// Writes the places, and returns their size in bytes. The first of the records is of this framing.
///
/// Shape:   `to` is aligned for numbers of 32 bits.
/// Threads: any.
/// Throws:  Error of kind bad_argument, if there is no room for all; and as record_bytes.
std::size_t write_record_places(Framing const& framing, std::span<std::byte const> records, std::span<std::byte> to);

/// Treatment of a record that does not fit into a tile.
enum class LongRecords {
  refuse,    ///< It is left out.
  truncate,  ///< Its first bytes, as many as fit, are a record without a delimiter; the others are left out.
};

/// Records that were not passed on whole.
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
/// The lost records, an entry for each reason. If the input was `stopped`, an unfinished record does not count as lost:
/// the stop came before its end.
std::vector<LeftOut> left_out_of(RecordLoss const& loss, bool stopped = false);

/// The packets of captures in the formats pcap and pcapng, in either byte order: the first 24 bytes of each input
/// identify its format. A record is a packet with the header that precedes it in the file, or another block of a pcapng
/// file. CaptureNotes has what stages must know of it.
///
/// Interfaces may differ in link type, time unit and time offset; sections may differ in byte order. A section begins a
/// tile. A pcap file may be of a version before 2.4, or of the modified format of A. Kuznetzov (magic number
/// 0xA1B2CD34).
///
/// Source: IETF, draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng; libpcap, sf-pcap.c, of the other kinds of pcap.
FramingRef captured_packets();

/// Properties with which packets of a capture were recorded.
struct CaptureKind {
  std::uint32_t link = 0;  ///< LINKTYPE_ number.
  /// Time units per second, in the encoding of pcapng: an exponent of ten, or of two if the highest bit is set.
  std::uint32_t time_unit = 6;
  /// Maximum number of captured bytes of a simple packet; 0: no limit.
  std::uint32_t longest = 0;
  std::int64_t offset = 0;  ///< Seconds to add to each time.

  static constexpr std::size_t words = 5;  ///< Numbers that one kind takes in the notes.
  bool operator==(CaptureKind const&) const = default;
};

/// Framing::notes of a capture.
struct CaptureNotes {
  enum Format : std::uint32_t { pcap, pcapng };
  /// Tells which of the two lengths before a packet is the number of captured bytes.
  enum Lengths : std::uint32_t { first, second, smaller };

  std::uint32_t format = pcap;
  std::uint32_t swapped = 0;  ///< Is 1 if numbers have the other byte order than this machine's.
  std::uint32_t lengths = first;
  std::uint32_t modified = 0;  ///< Is 1 if the header of a pcap packet has 24 bytes instead of 16.
  CaptureKind kind = {};       ///< Kind of all packets, if `kinds` is 0.
  /// Number of kinds, if packets of a tile differ. Behind the places of the packets the tile then has these kinds,
  /// CaptureKind::words numbers each, followed by the kind number of each record: four in a number of 32 bits, the
  /// first one in the lowest byte.
  std::uint32_t kinds = 0;

  static CaptureNotes of(Framing::Notes const& notes) noexcept {
    return {notes[0] & 0xFFU,
            notes[0] >> 8U & 1U,
            notes[0] >> 9U & 3U,
            notes[0] >> 11U & 1U,
            {notes[1], notes[2], notes[3], static_cast<std::int64_t>(notes[4] | std::uint64_t{notes[5]} << 32U)},
            notes[6]};
  }
  Framing::Notes words() const noexcept {
    auto const offset = static_cast<std::uint64_t>(kind.offset);
    return {format | swapped << 8U | lengths << 9U | modified << 11U,
            kind.link,
            kind.time_unit,
            kind.longest,
            static_cast<std::uint32_t>(offset),
            static_cast<std::uint32_t>(offset >> 32U),
            kinds};
  }
};

/// Minimum size of the second input for the places of all packets of a tile and their kinds.
constexpr std::size_t capture_places_bytes(std::size_t tile_bytes) {
  constexpr std::size_t least_block = 12, most_kinds = 256;
  return record_places_bytes(tile_bytes, least_block) + (tile_bytes / least_block + 3) / 4 * sizeof(std::uint32_t) +
         most_kinds * CaptureKind::words * sizeof(std::uint32_t);
}

}  // namespace penstock
