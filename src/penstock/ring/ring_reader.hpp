// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/ring/ring_memory.hpp"
#include "penstock/shared_ring.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// What the reader does with the memory of a ring. Where it is in each place it keeps for itself, and believes nothing
/// of what others can write.
///
/// Threads: `try_take`, `ended` and `await_commit` one at a time; all others any.
class RingReader final : public MemoryOwner {
 public:
  /// A piece that was committed. Its slot is the reader's until `take_back`.
  struct Piece {
    std::span<std::byte> bytes = {};
    std::size_t place = 0;
    std::uint64_t sequence = 0;
    std::uint64_t tag = 0;
  };

  /// Shape: `memory` outlives this.
  explicit RingReader(RingMemory const& memory);
  /// Reports on stderr if a tile still stands for a slot.
  ~RingReader() override;

  /// The next piece, places in turn, if one is there and has at most so many bytes.
  ///
  /// Blocks: never.
  std::optional<Piece> try_take(std::size_t at_most);
  /// The slot that begins where `bytes` does goes back to its writer.
  void take_back(std::span<std::byte> bytes) noexcept override;
  /// True once so many writers have come, and none is there any more. What they committed may still be in the ring.
  bool ended(std::uint64_t writers) const noexcept;

  /// While it lives commits wake the reader, so the reader looks once more before it sleeps.
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

  /// For `await_commit`, from before the caller looked for what it waits for.
  std::uint32_t commits() const noexcept { return memory_.head().commits.load(std::memory_order_seq_cst); }
  /// Blocks: until something was committed since `seen`, `wake` was called, or so much time has passed.
  void await_commit(std::uint32_t seen, std::chrono::nanoseconds at_most) noexcept {
    sleep_on(memory_.head().commits, seen, at_most);
  }
  void wake() noexcept;

  /// For one source at a time; false if there is one.
  bool begin_use() noexcept { return !used_.exchange(true, std::memory_order_acquire); }
  void end_use() noexcept { used_.store(false, std::memory_order_release); }

  SharedRingCounts counts() const;
  /// Slots that are the reader's now.
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
  std::vector<std::atomic<std::uint64_t>> out_since_;  ///< Of each slot the turn, and one more; 0 if it is not out.
  std::size_t first_ = 0;                              ///< Where it looks first.
  std::atomic<bool> used_{false};
  std::atomic<std::uint64_t> pieces_{0}, bytes_{0}, lost_{0}, refused_{0}, out_{0};
};

}  // namespace penstock
