// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/chained_pieces.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

/// Number of bytes that a guess examines; more if these do not suffice.
constexpr std::size_t usual_look = std::size_t{16} << 10;

/// Distance between the beginnings of two pieces: it leaves room in the tile for the rest of records that begin in a
/// piece and end behind it.
std::size_t step_of(std::size_t tile_bytes) {
  constexpr std::size_t aligned = Framing::find_aligned;
  return std::max(aligned, (tile_bytes - tile_bytes / 16) / aligned * aligned);
}
std::uint64_t count_of(std::uint64_t bytes, std::size_t tile_bytes) {
  if (bytes <= tile_bytes) return 1;
  return (bytes + step_of(tile_bytes) - 1) / step_of(tile_bytes);
}

}  // namespace

/// A piece that is being read: later ones wait for its end.
class ChainedPieces::Turn {
 public:
  Turn(ChainedPieces& all, std::uint64_t number) : all_(all), number_(number) {}
  Turn(Turn const&) = delete;
  Turn& operator=(Turn const&) = delete;
  ~Turn() {
    wait();
    std::scoped_lock const lock(all_.mutex_);
    all_.border_ = std::move(behind_);
    if (all_.border_.framing != nullptr) all_.last_framing_ = all_.border_.framing;
    ++all_.settled_;
    // Wakes threads that wait for their turn, or for the end of all pieces.
    for (auto& turn : {&all_.turns_[all_.settled_ % all_.turns_.size()], &all_.turns_.back()}) turn->notify_all();
  }

  bool has_come() const {
    std::scoped_lock const lock(all_.mutex_);
    return all_.settled_ == number_;
  }
  Border wait() const {
    std::unique_lock lock(all_.mutex_);
    all_.turns_[number_ % all_.turns_.size()].wait(lock, [this] { return all_.settled_ == number_; });
    return all_.border_;
  }
  /// Sets the end of the piece; without a call it is not known.
  void end_at(Border behind) noexcept { behind_ = std::move(behind); }

 private:
  ChainedPieces& all_;
  std::uint64_t const number_;
  Border behind_;
};

ChainedPieces::ChainedPieces(Framing::OfInput const& of, std::size_t tile_bytes, std::uint64_t size,
                             LongRecords long_records, bool places)
    : first_(of.framing),
      head_(of.head),
      tile_bytes_(tile_bytes),
      size_(size),
      step_(step_of(tile_bytes)),
      count_(count_of(size - std::min<std::uint64_t>(size, of.head), tile_bytes)),
      long_records_(long_records),
      wants_places_(places),
      border_{of.head, of.framing},
      last_framing_(of.framing) {}

/// Beginning of the following piece.
std::uint64_t ChainedPieces::limit_of(std::uint64_t number) const noexcept {
  return number + 1 < count_ ? head_ + (number + 1) * step_ : size_;
}

ChainedPieces::Piece ChainedPieces::read(Read const& read, std::uint64_t number, std::span<std::byte> tile) {
  Turn turn(*this, number);
  std::optional<Walk> walked;
  if (!turn.has_come()) walked = guess(read, number, tile);
  Border const begin = turn.wait();
  if (begin.framing == nullptr) {
    // Damage in front of it leaves only a guess.
    if (!walked) walked = guess(read, number, tile);
    if (!walked) return {limit_of(number), 0, {.framing = first_}};
  } else if (!walked || walked->begin.offset != begin.offset || walked->begin.framing != begin.framing) {
    walked = walk(read, begin, limit_of(number), tile);
  }
  note(*walked);
  turn.end_at(walked->behind);
  return std::move(walked->piece);
}

/// Walks over the piece from the first record that it recognises. Returns nothing if there is none, or if it is
/// damaged.
std::optional<ChainedPieces::Walk> ChainedPieces::guess(Read const& read, std::uint64_t number,
                                                        std::span<std::byte> tile) const {
  FramingRef framing;
  {
    std::scoped_lock const lock(mutex_);
    framing = last_framing_;
  }
  std::uint64_t const begin = head_ + number * step_;
  if (!framing->finds_records() || begin >= size_) return std::nullopt;
  auto const found = find(read, *framing, begin);
  if (!found) return std::nullopt;
  Walk guessed = walk(read, {*found, std::move(framing)}, limit_of(number), tile);
  if (guessed.damage && guessed.piece.bytes == 0) return std::nullopt;
  return guessed;
}

/// Returns the likely beginning of the first record at or behind a piece's beginning.
std::optional<std::uint64_t> ChainedPieces::find(Read const& read, Framing const& framing, std::uint64_t begin) const {
  constexpr std::size_t aligned = Framing::find_aligned;
  std::uint64_t const place = begin - head_;
  std::uint64_t const seen = (place - std::min<std::uint64_t>(place, Framing::find_back)) / aligned * aligned;
  auto const back = static_cast<std::size_t>(place - seen);
  auto const most = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(tile_bytes_, usual_look), size_ - begin));
  for (std::size_t look = std::min(most, usual_look);; look = std::min(most, 4 * look)) {
    auto const room = std::make_unique_for_overwrite<std::byte[]>(back + look);
    std::size_t const got = read(head_ + seen, {room.get(), back + look});
    if (got < back) return std::nullopt;
    if (auto const found = framing.find_record({room.get(), got}, back, begin + (got - back) == size_))
      return *found < back ? std::nullopt : std::optional(head_ + seen + *found);
    if (look == most || got < back + look) return std::nullopt;
  }
}

/// Walks over the records from `begin` on that begin in front of `limit`, as many as the tile has room for.
ChainedPieces::Walk ChainedPieces::walk(Read const& read, Border begin, std::uint64_t limit,
                                        std::span<std::byte> tile) const {
  Walk walk{begin, {begin.offset, 0, {.framing = begin.framing}}, begin};
  auto& [offset, framing] = walk.behind;
  while (offset < limit) {
    std::size_t const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(tile.size(), size_ - offset));
    auto const bytes = tile.first(read(offset, tile.first(wanted)));
    bool const to_end = bytes.size() < wanted || offset + wanted == size_;
    Piece& piece = walk.piece;
    piece.offset = offset;
    piece.records = {.framing = framing};
    std::size_t const border = static_cast<std::size_t>(std::min<std::uint64_t>(limit - offset, bytes.size()));
    Walked walked = walk_records(framing, bytes, border, wants_places_ ? &piece.records.places : nullptr);
    if (wants_places_) piece.records.last = walked.framing;
    piece.bytes = walked.bytes;
    offset += walked.bytes;
    framing = std::move(walked.framing);
    if (walked.damage) {
      walk.damage = walked.damage->what();
      framing = nullptr;
      return walk;
    }
    bool const within = walked.bytes < border && !walked.part;
    bool const too_long = walked.next && *walked.next > tile_bytes_;
    if (within && to_end && !too_long) {
      ++piece.loss.unfinished;
      piece.unfinished_bytes = size_ - offset;
      offset = size_;
    }
    if (piece.bytes != 0 || offset == size_) return walk;
    if (!too_long) {
      walk.damage = "The record there has more than the " + size_text(tile_bytes_) +
                    " of a tile, and its framing cannot tell where it ends: make tiles larger.";
      framing = nullptr;
      return walk;
    }
    bool const missed = framing->is_missed(bytes), whole = *walked.next <= size_ - offset;
    if (!missed && !whole && long_records_ != LongRecords::truncate) {
      // Data that no reader would miss, such as a long comment, may be cut as all other data.
      ++piece.loss.unfinished;
      piece.unfinished_bytes = size_ - offset;
    }
    pass_long(read, walk, *walked.next, bytes);
    if (walk.damage) return walk;
    if (long_records_ == LongRecords::truncate) {
      ++piece.loss.truncated;
      piece.bytes = bytes.size();
      piece.records.last = nullptr;
      return walk;
    }
    if (missed) ++piece.loss.refused;
  }
  return walk;
}

/// Continues behind a record that does not fit into a tile, and of which this is the beginning.
void ChainedPieces::pass_long(Read const& read, Walk& walk, std::uint64_t length,
                              std::span<std::byte const> beginning) const {
  auto& [offset, framing] = walk.behind;
  bool const whole = length <= size_ - offset;
  bool const changes = framing->change(beginning) != Framing::Change::none;
  if (whole && (changes || !framing->is_missed(beginning))) {
    std::vector<std::byte> record(static_cast<std::size_t>(length));
    record.resize(read(offset, record));
    try {
      framing->record_bytes(record);  // Damage may show at its end only.
      if (changes) framing = framing->behind(record);
    } catch (Error const& error) {
      walk.damage = error.what();
      framing = nullptr;
      return;
    }
  }
  offset = whole ? offset + length : size_;
}

void ChainedPieces::note(Walk const& walk) {
  std::scoped_lock const lock(mutex_);
  if (damage_ && !damage_->until && walk.begin.framing != nullptr) damage_->until = walk.piece.offset;
  if (!walk.damage) return;
  if (damage_) {
    ++damage_->others;
  } else {
    damage_ = Damage{*walk.damage, walk.behind.offset};
  }
}

bool ChainedPieces::settled(std::uint64_t pieces) const {
  std::scoped_lock const lock(mutex_);
  return settled_ >= pieces;
}

void ChainedPieces::wait(std::uint64_t pieces) const {
  std::unique_lock lock(mutex_);
  turns_.back().wait(lock, [&] { return settled_ >= pieces; });
}

bool ChainedPieces::more() const {
  std::scoped_lock const lock(mutex_);
  return border_.framing != nullptr && border_.offset < size_;
}

std::optional<std::string> ChainedPieces::problem() const {
  std::scoped_lock const lock(mutex_);
  if (!damage_) return std::nullopt;
  std::string text =
      damage_->sentence + " That is at byte " + std::to_string(damage_->at) + ": what is in front of it was read, and ";
  text += damage_->until ? "what was found from byte " + std::to_string(*damage_->until) + " on."
                         : std::string("nothing from there on.");
  if (damage_->others != 0) text += " There is more damage, in " + count_text(damage_->others, "place") + " at least.";
  return text;
}

}  // namespace penstock
