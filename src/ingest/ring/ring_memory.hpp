// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/core/between_processes.hpp"
#include "engine/core/descriptor.hpp"
#include "penstock/ingest/shared_ring.hpp"

namespace penstock {

/// Phase of a slot in one of its turns. A place's turns are numbered from 0, and turn n uses slot n modulo slots.
enum class SlotPhase : std::uint64_t { free, claimed, committed, taken };

constexpr std::uint64_t slot_state(std::uint64_t turn, SlotPhase phase) noexcept {
  return turn << 2 | static_cast<std::uint64_t>(phase);
}

// The following structures are in the shared memory, and are the protocol: the bytes mean the same in both processes.

struct RingHead {
  char kind[16];
  std::uint32_t version;
  std::uint32_t writers;
  std::uint64_t slots;
  std::uint64_t slot_bytes;
  std::uint64_t memory_bytes;
  std::atomic<std::uint32_t> closed;               ///< The reader has ended in an orderly way.
  alignas(64) std::atomic<std::uint32_t> commits;  ///< The reader sleeps on it.
  std::atomic<std::uint32_t> reader_waits;
};

/// State of a place, which one writer at a time has.
struct RingPlace {
  alignas(64) std::atomic<std::uint32_t> frees;  ///< The writer sleeps on it.
  std::atomic<std::uint32_t> writer_waits;
  std::atomic<std::uint32_t> refused;           ///< The reader reads no more from this place.
  alignas(64) std::atomic<std::uint64_t> next;  ///< The turn to claim; one behind if the writer died during a commit.
  std::atomic<std::uint64_t> sequence;          ///< Sequence number of the next commit; one behind if the writer died
                                                /// during a commit.
  std::atomic<std::uint64_t> came;              ///< Number of writers so far.
  std::atomic<std::uint64_t> left;              ///< Number of writers that ended in an orderly way.
  std::atomic<std::uint64_t> unfinished;        ///< Number of claims of dead writers that later writers have found.
};

struct RingSlot {
  alignas(64) std::atomic<std::uint64_t> state;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> sequence;
  std::atomic<std::uint64_t> tag;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "Processes share these numbers.");

/// The memory of a ring, mapped, with its own open file description, which holds locks.
///
/// Every slot begins at a multiple of 4096 bytes. The size of the memory cannot change.
///
/// Threads: any.
class RingMemory {
 public:
  /// Time that a side sleeps before it checks whether the other is still there.
  static constexpr std::chrono::milliseconds look_after{100};

  /// Makes new memory, with all slots free and its reader's lock held.
  ///
  /// Throws: Error of kind bad_argument, for an invalid shape; of kind system.
  static std::unique_ptr<RingMemory> make(SharedRingShape const& shape);
  /// Maps the memory of another process, reopened from `descriptor`, which the caller keeps.
  ///
  /// Throws: Error of kind bad_argument, if it is no ring of this version; of kind system.
  static std::unique_ptr<RingMemory> open(int descriptor);
  RingMemory(RingMemory const&) = delete;
  RingMemory& operator=(RingMemory const&) = delete;
  ~RingMemory();

  SharedRingShape const& shape() const noexcept { return shape_; }
  int descriptor() const noexcept { return file_.number; }
  RingHead& head() const noexcept { return *reinterpret_cast<RingHead*>(mapped_); }
  RingPlace& place(std::size_t place) const noexcept;
  RingSlot& slot(std::size_t place, std::uint64_t turn) const noexcept { return slots_[index_of(place, turn)]; }
  /// All bytes of the slot.
  std::span<std::byte> bytes(std::size_t place, std::uint64_t turn) const noexcept {
    return {slot_memory_ + index_of(place, turn) * stride_, shape_.slot_bytes};
  }
  /// Index of a slot, counted place by place.
  std::size_t index_of(std::size_t place, std::uint64_t turn) const noexcept {
    return place * shape_.slots + turn % shape_.slots;
  }
  /// Index of the slot that begins at this address.
  std::size_t index_of(std::byte const* begin) const noexcept {
    return static_cast<std::size_t>(begin - slot_memory_) / stride_;
  }
  /// The pages of all slots.
  std::span<std::byte> all_slots() const noexcept {
    return {slot_memory_, std::size_t{shape_.writers} * shape_.slots * stride_};
  }

  /// Takes the lock of the reader, 0, or of the writer at place k, 1 + k, for the life of this object; false if another
  /// has it.
  bool lock(std::size_t which) const noexcept;
  void unlock(std::size_t which) const noexcept;
  /// True while another open file description has that lock. The system releases it when the process ends, however it
  /// ends.
  bool is_locked(std::size_t which) const noexcept;

 private:
  explicit RingMemory(int descriptor) noexcept : file_(descriptor) {}
  void map(SharedRingShape const& shape);

  Descriptor file_;
  SharedRingShape shape_;
  std::size_t stride_ = 0, bytes_ = 0;
  std::byte* mapped_ = nullptr;
  RingSlot* slots_ = nullptr;
  std::byte* slot_memory_ = nullptr;
};

/// Changes the bell, and wakes threads that sleep on it, in this process or another, if `waits` shows that there are
/// any.
void ring_bell(std::atomic<std::uint32_t>& bell, std::atomic<std::uint32_t> const& waits) noexcept;

}  // namespace penstock
