// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "ingest/decoding/decoder.hpp"
#include "ingest/decoding/lz4_parts.hpp"
#include "ingest/decoding/members.hpp"
#include "ingest/decoding/xxhash.hpp"
#include "ingest/file/byte_stream.hpp"
#include "ingest/file/decoded_stream.hpp"
#include "ingest/file/open_file.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

/// The decoded data of a compressed file. Several threads decode at once if its members can be found without decoding
/// them, or the blocks of a frame of lz4. Consecutive members form a unit, of about a tile. From the first member on
/// that cannot be found, or is larger than `most_unit_bytes`, one thread decodes, as DecodedStream does.
///
/// Threads: `gather` one at a time, `help` any at the same time.
class DecodedAhead final : public ByteStream {
 public:
  /// Maximum decoded size of a unit, and of all units that are decoded and not read.
  static constexpr std::uint64_t most_unit_bytes = std::uint64_t{32} << 20U;
  static constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20U;

  /// Units are of `unit_bytes` or little more, unless one member has more.
  DecodedAhead(std::shared_ptr<OpenFile> file, Compression compression, std::size_t unit_bytes);
  DecodedAhead(DecodedAhead const&) = delete;
  DecodedAhead& operator=(DecodedAhead const&) = delete;
  ~DecodedAhead() override;

  /// Has the contract of DecodedStream.
  ///
  /// Blocks: also until another thread has decoded the next unit.
  Gathered gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                  std::stop_token const& stop) override;
  /// Decodes the next unit that no thread has begun; nothing if the number of decoded and unread units is that of the
  /// threads that have called this, plus one.
  ///
  /// Blocks: while it decodes.
  void help(std::stop_token const& stop);

  /// True if one thread decodes the rest. It is known once that place was reached.
  ///
  /// Threads: as `gather`.
  bool by_one() const noexcept { return rest_.has_value(); }
  /// Units that were decoded by `help`.
  std::uint64_t helped() const;

 private:
  struct Unit;
  struct Room;
  std::shared_ptr<Unit> find_unit(std::stop_token const& stop);
  std::shared_ptr<Unit> find_part();
  std::optional<Member> find_next_member() const;
  std::shared_ptr<Unit> find_idle(std::stop_token const& stop);
  std::shared_ptr<Unit> front(std::stop_token const& stop);
  void decode(Unit& unit, std::stop_token const& stop);
  void decode_members(Unit& unit, Decoder& decoder, std::stop_token const& stop) const;
  void note(FramePart const& part, std::span<std::byte const> bytes);
  void expect_frame(FramePart const& part) const;
  void drop_front();

  std::shared_ptr<OpenFile> const file_;
  Compression const compression_;
  std::uint64_t const unit_bytes_;

  mutable std::mutex mutex_;
  std::condition_variable_any decoded_;
  std::deque<std::shared_ptr<Unit>> units_;  ///< Units in their order; the first one is being read.
  std::uint64_t next_ = 0;                   ///< Beginning of the unit behind them.
  std::uint64_t begun_ = 0;                  ///< Number of units that are decoded, or will be soon.
  std::uint64_t begun_bytes_ = 0;            ///< Maximum decoded size of these units.
  std::uint64_t helped_ = 0;
  bool found_all_ = false;                       ///< No unit can be found at `next_`.
  std::optional<Lz4Parts> parts_;                ///< Parts of the frame at `next_`, if it is decoded in parts.
  std::optional<FileProblem> problem_of_parts_;  ///< The reason why the next one cannot be found.
  std::set<std::thread::id> helpers_;
  std::vector<std::unique_ptr<Decoder>> idle_decoders_;
  std::vector<Room> idle_rooms_;

  std::size_t read_ = 0;  ///< Number of bytes read of the first unit.
  /// Hash and size of the decoded data that was read of a frame in parts.
  Xxhash32 frame_hash_;
  std::uint64_t frame_bytes_ = 0;
  std::optional<DecodedStream> rest_;
  std::optional<FileProblem> problem_;
};

}  // namespace penstock
