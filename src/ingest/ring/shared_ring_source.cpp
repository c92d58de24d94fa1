// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "engine/core/number_text.hpp"
#include "engine/core/of_tiles.hpp"
#include "engine/core/own_process.hpp"
#include "ingest/ring/ring_reader.hpp"
#include "ingest/ring/shared_ring_parts.hpp"
#include "penstock/ingest/shared_ring.hpp"

namespace penstock {
namespace {

using WallClock = std::chrono::steady_clock;

/// A count with its noun and verb: "1 piece was", "2 pieces were".
std::string counted(std::uint64_t count, std::string const& what) {
  return count_text(count, what) + (count == 1 ? " was" : " were");
}

/// The only user of a reader, for as long as this lives.
class UseOfReader {
 public:
  /// Throws: Error of kind bad_argument, if it has another user.
  explicit UseOfReader(RingReader& reader) : reader_(reader) {
    if (reader.begin_use()) return;
    throw Error(ErrorKind::bad_argument, "This shared ring has a source: end that one first, or make another ring.");
  }
  UseOfReader(UseOfReader const&) = delete;
  UseOfReader& operator=(UseOfReader const&) = delete;
  ~UseOfReader() { reader_.end_use(); }

 private:
  RingReader& reader_;
};

/// Duration of the silence, for one wait. It restarts while slots are out, since the writers may then have none.
class Silence {
 public:
  /// Time left until the silence has lasted for `idle`, at least 1 ms; empty if it has.
  std::optional<std::chrono::nanoseconds> left(std::chrono::milliseconds idle, bool slots_are_out) {
    auto const now = WallClock::now();
    if (slots_are_out || were_out_) since_ = now;
    were_out_ = slots_are_out;
    std::chrono::nanoseconds const left = since_ + idle - now;
    if (left.count() <= 0 && !slots_are_out) return std::nullopt;
    return std::max<std::chrono::nanoseconds>(left, std::chrono::milliseconds(1));
  }

 private:
  WallClock::time_point since_ = WallClock::now();
  bool were_out_ = false;
};

void expect_fitting(SharedRingShape const& ring, TileShape const& tiles, bool copies) {
  if (ring.slot_bytes > tiles.input_bytes) {
    throw Error(ErrorKind::bad_argument, "A slot of the shared ring has " + size_text(ring.slot_bytes) +
                                             ", but the input of a tile " + size_text(tiles.input_bytes) +
                                             ": make the tiles as large as slots.");
  }
  if (!copies && tiles.in_place) {
    throw Error(
        ErrorKind::bad_argument,
        "Tiles that are worked on in place cannot stand for slots of a shared ring: give them an output of their "
        "own, or ask for copies.");
  }
}

}  // namespace

/// The implementation of a SharedRingSource.
class SharedRingSource::Parts {
 public:
  Parts(SharedRing& ring, RingReader& reader, Pool const& pool, SharedRingSourceOptions options)
      : ring_(ring), reader_(reader), use_(reader), options_(std::move(options)), on_stop_(options_.stop, [this] {
          reader_.wake();
        }) {
    expect_fitting(ring.shape(), pool.shape(), options_.copies);
    jobs_.add(pool);
  }

  bool next(Tile& tile) {
    Job& job = jobs_.of(tile);
    job.pieces.clear();
    job.slots.clear();
    job.make_room();
    auto piece = wait_for_piece();
    if (!piece) return false;
    tile.tag = piece->tag;
    if (!options_.copies) {
      job.add(*piece, 0);
      tile.use_memory(piece->bytes, &reader_);
      return true;
    }
    std::size_t const room = tile.input().size();
    for (std::size_t filled = 0; piece; piece = reader_.try_take(room - filled)) {
      job.add(*piece, filled);
      filled += piece->bytes.size();
      job.make_room();
    }
    return true;
  }
  std::size_t fill(Tile& tile) {
    if (!options_.copies) return tile.filled;
    Job& job = jobs_.of(tile);
    std::size_t filled = 0;
    for (std::span<std::byte> const slot : job.slots) {
      if (!slot.empty()) std::memcpy(tile.input().data() + filled, slot.data(), slot.size());
      filled += slot.size();
      reader_.take_back(slot);
    }
    return filled;
  }
  std::vector<SharedPiece> const& pieces_of(Tile const& tile) { return jobs_.of(tile).pieces; }
  SharedRingCounts counts() const { return ring_.counts(); }

  OwnProcess const process;

 private:
  struct Job {
    /// Reserves memory for one more piece before it is taken, so that none is lost if memory runs out.
    void make_room() {
      if (pieces.size() == pieces.capacity()) pieces.reserve(2 * pieces.size() + 1);
      if (slots.size() == slots.capacity()) slots.reserve(2 * slots.size() + 1);
    }
    void add(RingReader::Piece const& piece, std::size_t offset) {
      pieces.push_back({piece.place, piece.sequence, piece.tag, offset, piece.bytes.size()});
      slots.push_back(piece.bytes);
    }
    std::vector<SharedPiece> pieces = {};
    std::vector<std::span<std::byte>> slots = {};
  };

  /// Waits for a piece; empty at the end of the input.
  std::optional<RingReader::Piece> wait_for_piece() {
    Silence silence;
    while (!options_.stop.stop_requested()) {
      std::uint32_t const seen = reader_.commits();
      if (auto piece = take()) return piece;
      RingReader::Wait const wait(reader_);
      // A writer that has ended has committed all its pieces; so the ring is checked after this.
      bool const ended = options_.writers && reader_.ended(*options_.writers);
      auto piece = take();
      if (piece || ended) return piece;
      std::chrono::nanoseconds nap = RingMemory::look_after;
      if (options_.idle) {
        auto const left = silence.left(*options_.idle, reader_.out() != 0);
        if (!left) return std::nullopt;
        nap = std::min(nap, *left);
      }
      // A stop after this point changes the bell.
      if (!options_.stop.stop_requested()) reader_.await_commit(seen, nap);
    }
    return std::nullopt;
  }
  std::optional<RingReader::Piece> take() { return reader_.try_take(ring_.shape().slot_bytes); }

  SharedRing& ring_;
  RingReader& reader_;
  UseOfReader const use_;
  SharedRingSourceOptions const options_;
  OfTiles<Job, 1> jobs_;
  std::stop_callback<std::function<void()>> const on_stop_;
};

SharedRingSource::SharedRingSource(SharedRing& ring, Pool const& pool, SharedRingSourceOptions options)
    : parts_(std::make_unique<Parts>(ring, ring.parts_->reader, pool, std::move(options))) {}

SharedRingSource::~SharedRingSource() {
  left_to_parent(parts_);
}

bool SharedRingSource::next(Tile& tile) {
  return parts_->next(tile);
}

std::size_t SharedRingSource::fill(Tile& tile) {
  return parts_->fill(tile);
}

std::vector<SharedPiece> const& SharedRingSource::pieces_of(Tile const& tile) const {
  return parts_->pieces_of(tile);
}

std::vector<std::string> SharedRingSource::remarks() const {
  std::uint64_t const died = parts_->counts().died;
  if (died == 0) return {};
  return {counted(died, "writer") + " killed, or ended without closing the shared ring."};
}

std::vector<LeftOut> SharedRingSource::left_out() const {
  SharedRingCounts const now = parts_->counts();
  std::vector<LeftOut> all;
  std::array const pieces{
      LeftOut{.unit = "piece", .reason = "unfinished, since its writer ended", .count = now.unfinished},
      LeftOut{.unit = "piece",
              .reason = "dropped by writers of the shared ring",
              .count = now.lost,
              .remedy = "give the ring more slots, or the reader more tiles"},
      LeftOut{.unit = "piece",
              .reason = "refused, since it says that it is longer than a slot of the shared ring",
              .count = now.refused},
      LeftOut{.unit = "writer",
              .reason = "refused, since the memory of the shared ring was written over",
              .count = now.damaged,
              .remedy = "look for a write beyond a slot"},
      LeftOut{.unit = "piece",
              .reason = "in the shared ring, unread, when the input ended",
              .count = now.unread,
              .lost = false}};
  add_left_out(all, pieces);
  return all;
}

}  // namespace penstock
