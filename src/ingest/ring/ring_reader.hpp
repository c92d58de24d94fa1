// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ingest/ring/ring_memory.hpp"
#include "penstock/ingest/shared_ring.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// The reader's operations on the memory of a ring. It keeps its positions outside that memory, and trusts nothing that
/// others can write.
///
/// Threads: `try_take`, `ended` and `await_commit` one at a time; all others any.
class RingReader final : public MemoryOwner {
 public:
  /// A piece that was committed. Its slot belongs to the reader until `take_back`.
  struct Piece {
    std::span<std::byte> bytes = {};
    std::size_t place = 0;
    std::uint64_t sequence = 0;
    std::uint64_t tag = 0;
  };

  /// Shape: `memory` outlives this.
  explicit RingReader(RingMemory const& memory);
  /// Says by a message if a tile still refers to a slot.
  ~RingReader() override;

  /// Takes the next piece, from alternate places, if there is one of at most `at_most` bytes.
  ///
  /// Blocks: never.
  std::optional<Piece> try_take(std::size_t at_most);
  /// Returns the slot at `bytes` to its writer.
  void take_back(std::span<std::byte> bytes) noexcept override;
  /// True once `writers` writers have connected, and none is connected any more. Their commits may still be in the
  /// ring.
  bool ended(std::uint64_t writers) const noexcept;

  /// Commits wake the reader while it lives; the reader must check once more before it sleeps.
  class Wait {
   public:
    explicit Wait(RingReader& reader) noexcept : waits_(reader.memory_.head().reader_waits) {
      waits_.store(1, std::memory_order_seq_cst);
    }
    Wait(Wait const&) = delete;
    Wait& operator=(Wait const&) = delete;
    ~Wait() { waits_.store(0, std::memory_order_relaxed); }

   private:
    std::atomic<std::uint32_t>& waits_;
  };

  /// Value for `await_commit`; must be read before the caller checks its condition.
  std::uint32_t commits() const noexcept { return memory_.head().commits.load(std::memory_order_seq_cst); }
  /// Blocks: until something was committed since `seen`, `wake` was called, or `at_most` has passed.
  void await_commit(std::uint32_t seen, std::chrono::nanoseconds at_most) noexcept {
    sleep_on(memory_.head().commits, seen, at_most);
  }
  void wake() noexcept;

  /// Claims the reader for one source at a time; false if it has one.
  bool begin_use() noexcept { return !used_.exchange(true, std::memory_order_acquire); }
  void end_use() noexcept { used_.store(false, std::memory_order_release); }

  SharedRingCounts counts() const;
  /// Number of slots that the reader has now.
  std::uint64_t out() const noexcept { return out_.load(std::memory_order_acquire); }

 private:
  struct Cursor {
    std::atomic<std::uint64_t> turn{0};
    std::atomic<std::uint64_t> expected{0};  ///< Sequence number.
    std::atomic<bool> damaged{false};
  };
  std::optional<Piece> take_of(std::size_t place, std::size_t at_most);
  bool may_be(std::uint64_t state, std::uint64_t turn) const noexcept;
  void free(std::size_t place, std::uint64_t turn) noexcept;
  void refuse_place(std::size_t place) noexcept;

  RingMemory const& memory_;
  std::vector<Cursor> cursors_;
  std::vector<std::atomic<std::uint64_t>> out_since_;  ///< Turn of each slot plus one, or 0 if it is not taken.
  std::size_t first_ = 0;                              ///< Place where the next search begins.
  std::atomic<bool> used_{false};
  std::atomic<std::uint64_t> pieces_{0}, bytes_{0}, lost_{0}, refused_{0}, out_{0};
};

}  // namespace penstock
