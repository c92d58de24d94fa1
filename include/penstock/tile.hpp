// SPDX-License-Identifier: Apache-2.0
// What moves: a tile, the loan on it, and the completion that it gets.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/tile_types.hpp"

namespace penstock {

/// The parts of one tile, in memory that a host or a device sees.
struct TileParts {
  std::span<std::byte> input = {};
  std::span<std::byte> output = {};
  std::array<std::span<std::byte>, most_more_inputs> more_inputs = {};
};

/// How large the parts of a tile are: one to four inputs, and an output. `tile_of` says it in elements.
///
/// Units: bytes. Each may be 0. With `in_place` the first input and the output are the same bytes and output_bytes
/// equals input_bytes.
struct TileShape {
  /// Every part of a tile starts at a multiple of this many bytes from the slab's start.
  static constexpr std::size_t alignment = 256;
  using MoreBytes = std::array<std::size_t, most_more_inputs>;

  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  bool in_place = false;
  /// The second, third and fourth input. Each is uploaded by a copy of its own, in a stream of its own where streams
  /// are split, and the stage starts once all of them are on the device.
  MoreBytes more_input_bytes = {};
  /// What `tile_of` was told of the elements. Shapes of as many bytes are equal, whatever they are for.
  TileTypes types = {};

  /// From the start of one tile's part of so many bytes to that of the next one's.
  static std::size_t stride(std::size_t bytes) noexcept { return (bytes + alignment - 1) / alignment * alignment; }
  /// Where the parts of tile `number` lie in a slab of `tiles` tiles: all first inputs side by side, then all second
  /// inputs and so on, then all outputs, so that neighbouring tiles can be copied as one.
  ///
  /// Shape: `slab` has Pool::slab_bytes(*this, tiles), and `number` is below `tiles`.
  TileParts cut(std::span<std::byte> slab, std::size_t tiles, std::size_t number) const noexcept;
  /// The inputs that there are beside the first: 1 for the second, and so on.
  std::vector<std::size_t> more_inputs() const;
  std::size_t largest_part() const noexcept {
    return std::max({input_bytes, output_bytes, *std::ranges::max_element(more_input_bytes)});
  }
  constexpr bool operator==(TileShape const& other) const noexcept {
    return input_bytes == other.input_bytes && output_bytes == other.output_bytes && in_place == other.in_place &&
           more_input_bytes == other.more_input_bytes;
  }
};

class Pool;

/// Has memory that tiles stand for (Tile::use_memory), and is told when one of them does so no more.
class MemoryOwner {
 public:
  virtual ~MemoryOwner() = default;
  /// No tile and no device uses `memory` any more, which is what `use_memory` was given.
  ///
  /// Threads: the one on which the tile's loan dies, any number of them at once.
  virtual void take_back(std::span<std::byte> memory) noexcept = 0;
};

/// A fixed block of pinned host memory with room for work on its way in and its result on the way out.
///
/// `input(0)`, the first input, is the same as `input()`; most tiles have no other. `input(1)` is the second one, of
/// which the first `more_filled[0]` bytes count, and so on.
///
/// Threads: the holder of the tile's Loan, and no other thread.
class alignas(64) Tile {
 public:
  /// All of the input part, whether filled or not.
  std::span<std::byte> input() const noexcept { return parts_.input; }
  /// All of the output part; what counts after a run is the first `produced` bytes.
  std::span<std::byte> output() const noexcept { return parts_.output; }
  /// All of one of the inputs; empty if the shape has none there.
  ///
  /// Shape: `which` is at most most_more_inputs.
  std::span<std::byte> input(std::size_t which) const noexcept {
    return which == 0 ? parts_.input : parts_.more_inputs[which - 1];
  }
  /// The part of the input that the source filled.
  std::span<std::byte const> filled_input() const noexcept { return parts_.input.first(filled); }
  /// Likewise, of one of the inputs.
  ///
  /// Shape: `which` is at most most_more_inputs.
  std::span<std::byte const> filled_input(std::size_t which) const noexcept {
    return which == 0 ? filled_input() : parts_.more_inputs[which - 1].first(more_filled[which - 1]);
  }
  /// Has `memory` take the place of the first input's own bytes until the tile is home, and all of it counts: work that
  /// lies elsewhere, in a mapped file or a ring, say, is not copied into the tile. Devices read it where it is.
  ///
  /// It stays mapped until the loan dies, and nothing but host stages changes it. To be uploaded while the host
  /// goes on, and to be seen by a device without a copy, it must be pinned with the device (Device::pin); a GPU's lane
  /// waits for the copies of other memory. A device sees it without a copy only if it begins at a multiple of
  /// TileShape::alignment or the stage promises Promises::any_alignment.
  ///
  /// `owner` is told once, when the loan dies or this is called again; never, if the tile is stranded then. It outlives
  /// the loan. Null: none is told.
  ///
  /// Shape:  at most as many bytes as the input has. May be called again.
  /// Throws: Error of kind bad_argument, if it is larger, or the tile is worked on in place; no owner is told then.
  void use_memory(std::span<std::byte> memory, MemoryOwner* owner = nullptr);
  /// The first input's own bytes, whatever use_memory was given.
  std::span<std::byte> own_input() const noexcept { return uses_memory_ ? own_input_ : parts_.input; }
  /// True if use_memory was called since the tile was borrowed.
  bool uses_memory() const noexcept { return uses_memory_; }

  /// Bytes that count, of all inputs.
  std::size_t all_filled() const noexcept {
    std::size_t bytes = filled;
    for (std::size_t const more : more_filled) bytes += more;
    return bytes;
  }
  /// No input counts any more.
  void forget_filled() noexcept {
    filled = 0;
    more_filled = {};
  }
  /// The part of the output that the stage produced.
  std::span<std::byte const> produced_output() const noexcept { return parts_.output.first(produced); }
  /// Which tile of its pool this is.
  std::uint32_t index() const noexcept { return index_; }
  /// Which slab of its pool it was cut from.
  std::size_t pool_part() const noexcept { return pool_part_; }
  /// Where it goes when its Loan dies.
  Pool& home() const noexcept { return *home_; }
  /// A number that the code which lends a tile on keeps with it: a Feed notes the thread here, so leave it to the
  /// pipeline. It is 0 until it is set, and 0 again once the tile is home.
  ///
  /// Threads: any.
  std::uint32_t mark() const noexcept { return std::atomic_ref(mark_).load(std::memory_order_relaxed); }
  void set_mark(std::uint32_t mark) const noexcept { std::atomic_ref(mark_).store(mark, std::memory_order_relaxed); }

  std::size_t filled = 0;                 ///< Bytes of the input that count; the source says.
  std::size_t produced = 0;               ///< Bytes of the output that count; the stage says.
  std::uint64_t sequence = 0;             ///< Place in the source's order; the pipeline says.
  std::uint64_t tag = 0;                  ///< The source's own. FileSource and Records are sources, and use it.
  TileShape::MoreBytes more_filled = {};  ///< Bytes that count of the second, third and fourth input; the source says.

 private:
  friend class Pool;
  friend class Loan;
  /// Ends what use_memory began.
  void use_own_memory() noexcept {
    if (!std::exchange(uses_memory_, false)) return;
    parts_.input = own_input_;
  }
  /// Tells the owner of the memory that this stands for, if there is one.
  void tell_memory_owner() noexcept {
    if (memory_owner_ == nullptr) return;  // Without a write to its cache line.
    std::exchange(memory_owner_, nullptr)->take_back(parts_.input);
  }

  // With what is above these fill the first cache line, which holds all that changes for each tile that is pulled.
  std::uint32_t index_ = 0;
  std::uint16_t pool_part_ = 0;
  bool stranded_ = false;
  bool uses_memory_ = false;
  TileParts parts_;
  std::span<std::byte> own_input_;       ///< While it uses other memory.
  MemoryOwner* memory_owner_ = nullptr;  ///< Of that memory.
  Pool* home_ = nullptr;
  mutable std::uint32_t mark_ = 0;
};

/// Checks that the bytes that fill a tile fit into it.
///
/// Throws: Error of kind bad_argument that begins with `subject`, if `filled` or one of `more_filled` is beyond its
/// input.
void expect_filled_fits(Tile const& tile, std::string const& subject);

/// Exclusive use of one tile. It moves with the work, and its death brings the tile home.
///
/// Threads: one at a time; it may die on any thread. It must die before its Pool does.
class Loan {
 public:
  Loan() noexcept = default;
  Loan(Loan&& other) noexcept : tile_(std::exchange(other.tile_, nullptr)) {}
  Loan& operator=(Loan&& other) noexcept {
    if (this != &other) {
      give_back();
      tile_ = std::exchange(other.tile_, nullptr);
    }
    return *this;
  }
  ~Loan() { give_back(); }

  explicit operator bool() const noexcept { return tile_ != nullptr; }
  Tile& operator*() const noexcept { return *tile_; }
  Tile* operator->() const noexcept { return tile_; }

  /// Brings the tile home now.
  void give_back() noexcept;
  /// From here on the tile never goes home: its pool counts it as stranded and lends it no more. For a tile that a
  /// device may still write to, though no thread waits for it any more.
  void strand() noexcept;

  /// Takes the tile out of this loan's care, to carry it through a queue of plain pointers; `resume` ends the passage.
  /// A tile for which that is not called never comes home: move the Loan instead, where you can.
  Tile* release() noexcept { return std::exchange(tile_, nullptr); }
  /// Takes up a tile that `release` let go of.
  static Loan resume(Tile* tile) noexcept { return Loan(tile); }

 private:
  friend class Pool;
  explicit Loan(Tile* tile) noexcept : tile_(tile) {}
  Tile* tile_ = nullptr;
};

/// How a tile ended. There is no fourth way.
enum class Outcome : std::uint8_t { done, failed, cancelled };

/// What went wrong with one tile, and where.
struct Failure {
  /// "source", "upload", "stage", "download", "signal", "device", "sink"; or the name of a HostStage.
  std::string stage;
  std::string reason;  ///< A sentence.
  ErrorKind kind = ErrorKind::device_refused;
};

/// The one answer that every submitted tile gets: the loan back, with its outcome.
///
/// Threads: the holder.
struct Completion {
  Loan loan;
  Outcome outcome = Outcome::done;
  /// Set if and only if the outcome is `failed`. Shared, because one sticky fault may fail thousands of tiles.
  std::shared_ptr<Failure const> failure;

  bool ok() const noexcept { return outcome == Outcome::done; }

  static Completion done(Loan loan) { return {std::move(loan), Outcome::done, nullptr}; }
  static Completion cancelled(Loan loan) { return {std::move(loan), Outcome::cancelled, nullptr}; }
  static Completion failed(Loan loan, std::shared_ptr<Failure const> failure) {
    return {std::move(loan), Outcome::failed, std::move(failure)};
  }
};

}  // namespace penstock
