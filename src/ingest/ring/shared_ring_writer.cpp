// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/own_process.hpp"
#include "ingest/ring/ring_memory.hpp"
#include "penstock/ingest/shared_ring.hpp"

namespace penstock {
namespace {

using WallClock = std::chrono::steady_clock;

/// A time longer than any program runs, which can still be added to another.
constexpr std::chrono::nanoseconds for_ever = std::chrono::hours(24 * 365 * 100);

/// Throws: Error of kind bad_argument.
int opened(std::string const& path) {
  int const descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor >= 0) return descriptor;
  throw Error(ErrorKind::bad_argument, "There is no shared ring at " + path + ": " +
                                           std::error_code(errno, std::generic_category()).message() +
                                           ". Its reader must be there, be of the same user, and share /proc.");
}

}  // namespace

/// The implementation of a SharedRingWriter.
struct SharedRingWriter::Parts {
  explicit Parts(int descriptor) {
    Descriptor const given(descriptor);
    memory = RingMemory::open(given.number);
  }

  /// Continues where the previous writer of the place ended.
  void take_place() {
    expect_reader();
    while (number < memory->shape().writers && !memory->lock(1 + number)) ++number;
    if (number == memory->shape().writers) {
      throw Error(ErrorKind::system, "Other writers have all " + std::to_string(number) +
                                         " places of the shared ring: end one, or have the reader make it for more.");
    }
    place = &memory->place(number);
    place->came.fetch_add(1, std::memory_order_release);
    turn = place->next.load(std::memory_order_acquire);
    sequence = place->sequence.load(std::memory_order_acquire);
    std::uint64_t const state = slot().state.load(std::memory_order_acquire);
    if (state == slot_state(turn, SlotPhase::claimed)) {
      place->unfinished.fetch_add(1, std::memory_order_relaxed);
      slot().state.store(slot_state(turn, SlotPhase::free), std::memory_order_release);
    } else if (state >= slot_state(turn, SlotPhase::committed)) {
      // The previous writer was killed between its last commit and its note of that.
      sequence = std::max(sequence, slot().sequence.load(std::memory_order_relaxed) + 1);
      note_next(turn + 1);
    }
  }
  RingSlot& slot() const noexcept { return memory->slot(number, turn); }
  void note_next(std::uint64_t next) noexcept {
    turn = next;
    place->sequence.store(sequence, std::memory_order_release);
    place->next.store(next, std::memory_order_release);
  }

  /// Throws: Error of kind system.
  void expect_reader() const {
    if (memory->head().closed.load(std::memory_order_seq_cst) == 0 && memory->is_locked(0)) return;
    throw Error(ErrorKind::system,
                "The reader of the shared ring has ended, or was killed: start it again, and make a new writer.");
  }
  /// Throws: Error of kind system, if it never will be.
  bool is_free() const {
    std::uint64_t const state = slot().state.load(std::memory_order_seq_cst);
    if (place->refused.load(std::memory_order_relaxed) == 0) {
      if (memory->head().closed.load(std::memory_order_relaxed) != 0) expect_reader();
      if (state == slot_state(turn, SlotPhase::free) || state == slot_state(turn, SlotPhase::claimed)) return true;
      std::uint64_t const slots = memory->shape().slots;
      if (turn >= slots && (state == slot_state(turn - slots, SlotPhase::committed) ||
                            state == slot_state(turn - slots, SlotPhase::taken))) {
        return false;
      }
    }
    throw Error(ErrorKind::system,
                "The shared ring is damaged here, as something has written over its memory, and its reader reads no "
                "more of this writer: look for a write beyond a slot.");
  }
  /// Waits for a free slot; false if there is none by `end`.
  bool wait(WallClock::time_point end) {
    while (!is_free()) {
      auto const left = end - WallClock::now();
      if (left.count() <= 0) return false;
      std::uint32_t const seen = place->frees.load(std::memory_order_seq_cst);
      place->writer_waits.store(1, std::memory_order_seq_cst);
      if (!is_free()) {
        sleep_on(place->frees, seen, std::min<std::chrono::nanoseconds>(left, RingMemory::look_after));
        if (place->frees.load(std::memory_order_relaxed) == seen) expect_reader();
      }
      place->writer_waits.store(0, std::memory_order_relaxed);
    }
    return true;
  }

  OwnProcess const process;
  std::unique_ptr<RingMemory> memory;
  RingPlace* place = nullptr;
  std::size_t number = 0;
  std::uint64_t turn = 0, sequence = 0;
  bool claimed = false;
};

SharedRingWriter::SharedRingWriter(std::string const& path) : SharedRingWriter(opened(path)) {}

SharedRingWriter::SharedRingWriter(int descriptor) : parts_(std::make_unique<Parts>(descriptor)) {
  parts_->take_place();
}

SharedRingWriter::~SharedRingWriter() {
  if (left_to_parent(parts_)) return;
  if (parts_->claimed) parts_->slot().state.store(slot_state(parts_->turn, SlotPhase::free), std::memory_order_relaxed);
  parts_->place->left.fetch_add(1, std::memory_order_release);
  RingHead& head = parts_->memory->head();
  parts_->memory->unlock(1 + parts_->number);  // Unlocked first, so that a reader that wakes sees it.
  ring_bell(head.commits, head.reader_waits);
}

SharedRingShape const& SharedRingWriter::shape() const noexcept {
  return parts_->memory->shape();
}

std::size_t SharedRingWriter::place() const noexcept {
  return parts_->number;
}

std::span<std::byte> SharedRingWriter::claim() {
  return *try_claim(for_ever);
}

std::optional<std::span<std::byte>> SharedRingWriter::try_claim(std::chrono::nanoseconds at_most) {
  Parts& parts = *parts_;
  if (!parts.is_free()) {
    if (at_most.count() <= 0 || !parts.wait(WallClock::now() + std::min(at_most, for_ever))) return std::nullopt;
  }
  parts.slot().state.store(slot_state(parts.turn, SlotPhase::claimed), std::memory_order_relaxed);
  parts.claimed = true;
  return parts.memory->bytes(parts.number, parts.turn);
}

void SharedRingWriter::commit(std::size_t bytes, std::uint64_t tag) {
  Parts& parts = *parts_;
  if (!parts.claimed || bytes > shape().slot_bytes) {
    throw Error(ErrorKind::bad_argument, parts.claimed ? "A slot of the shared ring has " +
                                                             std::to_string(shape().slot_bytes) + " bytes, not " +
                                                             std::to_string(bytes) + ": commit what was written to it."
                                                       : "No slot of the shared ring is claimed: claim one first.");
  }
  RingSlot& slot = parts.slot();
  slot.bytes.store(bytes, std::memory_order_relaxed);
  slot.sequence.store(parts.sequence, std::memory_order_relaxed);
  slot.tag.store(tag, std::memory_order_relaxed);
  // Sequentially consistent, as ring_bell requires; and a release of the data written.
  slot.state.store(slot_state(parts.turn, SlotPhase::committed), std::memory_order_seq_cst);
  ++parts.sequence;
  parts.claimed = false;
  parts.note_next(parts.turn + 1);
  RingHead& head = parts.memory->head();
  ring_bell(head.commits, head.reader_waits);
}

void SharedRingWriter::note_dropped(std::uint64_t pieces) noexcept {
  parts_->sequence += pieces;
  parts_->place->sequence.store(parts_->sequence, std::memory_order_release);
}

}  // namespace penstock
