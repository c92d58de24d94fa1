// SPDX-License-Identifier: Apache-2.0
#include "ingest/ring/ring_reader.hpp"

#include <algorithm>

#include "engine/core/say.hpp"

namespace penstock {

RingReader::RingReader(RingMemory const& memory)
    : memory_(memory),
      cursors_(memory.shape().writers),
      out_since_(std::size_t{memory.shape().writers} * memory.shape().slots) {}

RingReader::~RingReader() {
  if (auto const out = out_.load(std::memory_order_acquire); out != 0) {
    say("a SharedRing died while tiles stood for %llu of its slots; let every Loan die first.",
        static_cast<unsigned long long>(out));
  }
}

std::optional<RingReader::Piece> RingReader::try_take(std::size_t at_most) {
  for (std::size_t k = 0; k < cursors_.size(); ++k) {
    std::size_t const place = (first_ + k) % cursors_.size();
    if (auto piece = take_of(place, at_most)) {
      first_ = (place + 1) % cursors_.size();
      return piece;
    }
  }
  return std::nullopt;
}

std::optional<RingReader::Piece> RingReader::take_of(std::size_t place, std::size_t at_most) {
  Cursor& cursor = cursors_[place];
  // The loop is bounded: a writer that commits only refused pieces does not keep the reader here.
  for (std::uint32_t looks = 0; looks < memory_.shape().slots; ++looks) {
    if (cursor.damaged.load(std::memory_order_relaxed)) return std::nullopt;
    std::uint64_t const turn = cursor.turn.load(std::memory_order_relaxed);
    RingSlot& slot = memory_.slot(place, turn);
    // Sequentially consistent, as ring_bell requires; and an acquire, so that the piece is visible.
    std::uint64_t const state = slot.state.load(std::memory_order_seq_cst);
    // The memory is not trusted here: a tile may still refer to the slot, whatever is written there.
    std::atomic<std::uint64_t>& out_since = out_since_[memory_.index_of(place, turn)];
    bool const committed = state == slot_state(turn, SlotPhase::committed);
    if (!committed || out_since.load(std::memory_order_relaxed) != 0) {
      if (committed || !may_be(state, turn)) refuse_place(place);
      break;
    }
    // Read once: the writer may change it after the check.
    std::uint64_t const bytes = slot.bytes.load(std::memory_order_relaxed);
    bool const fits = bytes <= memory_.shape().slot_bytes;
    if (fits && bytes > at_most) break;
    std::uint64_t const sequence = slot.sequence.load(std::memory_order_relaxed);
    std::uint64_t const expected = cursor.expected.load(std::memory_order_relaxed);
    if (sequence > expected) lost_.fetch_add(sequence - expected, std::memory_order_relaxed);
    if (sequence >= expected) cursor.expected.store(sequence + 1, std::memory_order_relaxed);
    cursor.turn.store(turn + 1, std::memory_order_relaxed);
    if (!fits) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      free(place, turn);
      continue;
    }
    slot.state.store(slot_state(turn, SlotPhase::taken), std::memory_order_relaxed);
    out_since.store(turn + 1, std::memory_order_relaxed);
    pieces_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    out_.fetch_add(1, std::memory_order_relaxed);
    return Piece{memory_.bytes(place, turn).first(bytes), place, sequence, slot.tag.load(std::memory_order_relaxed)};
  }
  return std::nullopt;
}

/// True for a slot state with nothing to read in this turn.
bool RingReader::may_be(std::uint64_t state, std::uint64_t turn) const noexcept {
  std::uint64_t const slots = memory_.shape().slots;
  return state == slot_state(turn, SlotPhase::free) || state == slot_state(turn, SlotPhase::claimed) ||
         (turn >= slots && state == slot_state(turn - slots, SlotPhase::taken));
}

void RingReader::take_back(std::span<std::byte> bytes) noexcept {
  std::size_t const index = memory_.index_of(bytes.data());
  // Done first: a thread that sees the slot committed again sees this.
  std::uint64_t const turn = out_since_[index].exchange(0, std::memory_order_relaxed) - 1;
  free(index / memory_.shape().slots, turn);
  out_.fetch_sub(1, std::memory_order_release);
}

void RingReader::free(std::size_t place, std::uint64_t turn) noexcept {
  std::uint64_t const next = turn + memory_.shape().slots;
  memory_.slot(place, turn).state.store(slot_state(next, SlotPhase::free), std::memory_order_seq_cst);
  RingPlace& of = memory_.place(place);
  ring_bell(of.frees, of.writer_waits);
}

void RingReader::refuse_place(std::size_t place) noexcept {
  cursors_[place].damaged.store(true, std::memory_order_relaxed);
  RingPlace& of = memory_.place(place);
  of.refused.store(1, std::memory_order_seq_cst);
  ring_bell(of.frees, of.writer_waits);
}

bool RingReader::ended(std::uint64_t writers) const noexcept {
  std::uint64_t came = 0;
  for (std::size_t place = 0; place < cursors_.size(); ++place) {
    came += memory_.place(place).came.load(std::memory_order_acquire);
  }
  if (came < writers) return false;
  // Checked afterwards: a writer counts itself while it has its lock, so counted writers are seen, or have ended.
  for (std::size_t place = 0; place < cursors_.size(); ++place) {
    if (!cursors_[place].damaged.load(std::memory_order_relaxed) && memory_.is_locked(1 + place)) return false;
  }
  return true;
}

void RingReader::wake() noexcept {
  ring_bell(memory_.head().commits, memory_.head().reader_waits);
}

SharedRingCounts RingReader::counts() const {
  SharedRingCounts counts{.pieces = pieces_.load(std::memory_order_relaxed),
                          .bytes = bytes_.load(std::memory_order_relaxed),
                          .lost = lost_.load(std::memory_order_relaxed),
                          .refused = refused_.load(std::memory_order_relaxed),
                          .out = out_.load(std::memory_order_relaxed)};
  for (std::size_t place = 0; place < cursors_.size(); ++place) {
    Cursor const& cursor = cursors_[place];
    RingPlace const& of = memory_.place(place);
    bool const there = memory_.is_locked(1 + place);
    std::uint64_t const came = of.came.load(std::memory_order_acquire);
    std::uint64_t const gone = of.left.load(std::memory_order_acquire) + (there ? 1 : 0);
    counts.writers += came;
    counts.died += came - std::min(came, gone);
    counts.unfinished += of.unfinished.load(std::memory_order_relaxed);
    if (cursor.damaged.load(std::memory_order_relaxed)) {
      ++counts.damaged;
      continue;
    }
    std::uint64_t const sequence = of.sequence.load(std::memory_order_acquire);
    std::uint64_t turn = cursor.turn.load(std::memory_order_relaxed);
    std::uint64_t unread = 0;
    while (unread < memory_.shape().slots &&
           memory_.slot(place, turn).state.load(std::memory_order_acquire) == slot_state(turn, SlotPhase::committed)) {
      ++unread, ++turn;
    }
    counts.unread += unread;
    std::uint64_t const state = memory_.slot(place, turn).state.load(std::memory_order_acquire);
    if (!there && state == slot_state(turn, SlotPhase::claimed)) ++counts.unfinished;
    // Pieces that were left out behind the last one.
    std::uint64_t const expected = cursor.expected.load(std::memory_order_relaxed);
    if (unread == 0 && sequence > expected) counts.lost += sequence - expected;
  }
  return counts;
}

}  // namespace penstock
