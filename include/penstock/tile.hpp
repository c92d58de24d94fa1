// SPDX-License-Identifier: Apache-2.0
// Tiles with the types of their elements, the loan on a tile, its completion, and the source that fills tiles.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/error.hpp"

namespace penstock {

/// Maximum number of inputs in addition to the first.
inline constexpr std::size_t most_more_inputs = 3;

/// Type of an element. Bytes and structures are `any`: they are compatible with every other type.
struct PartType {
  enum class Kind : std::uint8_t { any, integer, real };
  Kind kind = Kind::any;
  std::uint8_t bytes = 0;  ///< 0 for any.

  /// False if both are numbers, and of different kinds or sizes; otherwise true.
  constexpr bool goes_with(PartType other) const noexcept {
    return kind == Kind::any || other.kind == Kind::any || *this == other;
  }
  constexpr bool operator==(PartType const&) const = default;
};

/// The PartType of a C++ type; `any` for `void` and for types that stand for a missing part.
template <class Element>
constexpr PartType part_type() noexcept {
  using Kind = PartType::Kind;
  if constexpr (std::is_arithmetic_v<Element> || std::is_enum_v<Element>) {
    // A byte does not tell what it is a part of.
    if constexpr (sizeof(Element) > 1) {
      return {std::is_floating_point_v<Element> ? Kind::real : Kind::integer, sizeof(Element)};
    }
  }
  return {};
}

/// Types of the parts of a tile.
struct TileTypes {
  std::size_t inputs = 0;  ///< Number of inputs; 0 if not known.
  std::array<PartType, 1 + most_more_inputs> input = {};
  PartType output = {};
};

/// The parts of one tile, in memory that a host or a device sees.
struct TileParts {
  std::span<std::byte> input = {};
  std::span<std::byte> output = {};
  std::array<std::span<std::byte>, most_more_inputs> more_inputs = {};
};

/// Sizes of the parts of a tile: one to four inputs, and an output. `tile_of` computes them from elements.
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
  /// The second, third and fourth input. Each is uploaded by a copy of its own, in a stream of its own if streams are
  /// split, and the stage starts once all of them are on the device.
  MoreBytes more_input_bytes = {};
  /// Element types, set by `tile_of`. Shapes of the same sizes are equal, whatever their types.
  TileTypes types = {};

  /// Distance between the beginnings of the same part, of this size, of two neighbouring tiles.
  static std::size_t stride(std::size_t bytes) noexcept { return (bytes + alignment - 1) / alignment * alignment; }
  /// Places of the parts of tile `number` in a slab of `tiles` tiles: all first inputs side by side, then all second
  /// inputs and so on, then all outputs, so that neighbouring tiles can be copied as one.
  ///
  /// Shape: `slab` has Pool::slab_bytes(*this, tiles), and `number` is below `tiles`.
  TileParts cut(std::span<std::byte> slab, std::size_t tiles, std::size_t number) const noexcept;
  /// Numbers of the inputs other than the first that have bytes: 1 for the second, and so on.
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

/// Owner of memory that tiles refer to (Tile::use_memory); it is notified when one of them no longer does.
class MemoryOwner {
 public:
  virtual ~MemoryOwner() = default;
  /// Called when no tile and no device uses `memory` any more, which was passed to `use_memory`.
  ///
  /// Threads: the one on which the tile's loan dies, any number of them at once.
  virtual void take_back(std::span<std::byte> memory) noexcept = 0;
};

/// A fixed block of pinned host memory with room for the input of some work and its result.
///
/// `input(0)`, the first input, is the same as `input()`; most tiles have no other. `input(1)` is the second one, of
/// which the first `more_filled[0]` bytes are valid, and so on.
///
/// Threads: the holder of the tile's Loan, and no other thread.
class alignas(64) Tile {
 public:
  /// All of the input part, whether filled or not.
  std::span<std::byte> input() const noexcept { return parts_.input; }
  /// All of the output part; the first `produced` bytes are valid after a run.
  std::span<std::byte> output() const noexcept { return parts_.output; }
  /// All of one of the inputs; empty if the shape has none there.
  ///
  /// Shape: `which` is at most most_more_inputs.
  std::span<std::byte> input(std::size_t which) const noexcept {
    return which == 0 ? parts_.input : parts_.more_inputs[which - 1];
  }
  /// The part of the input that the source filled.
  std::span<std::byte const> filled_input() const noexcept { return parts_.input.first(filled); }
  /// The part of one of the inputs that the source filled.
  ///
  /// Shape: `which` is at most most_more_inputs.
  std::span<std::byte const> filled_input(std::size_t which) const noexcept {
    return which == 0 ? filled_input() : parts_.more_inputs[which - 1].first(more_filled[which - 1]);
  }
  /// Replaces the first input's own bytes by `memory` until the tile returns to its pool; all of it is valid input.
  /// Data that is elsewhere, for instance in a mapped file or a ring, is then not copied into the tile. Devices read it
  /// where it is.
  ///
  /// The memory must stay mapped until the loan dies, and only host stages may change it. It must be pinned with the
  /// device (Device::pin) for an upload while the host continues, and for access by a device without a copy; a GPU's
  /// lane waits for the copies of other memory. A device accesses it without a copy only if it begins at a multiple of
  /// TileShape::alignment or the stage promises Promises::any_alignment.
  ///
  /// `owner` is notified once, when the loan dies or this is called again; never, if the tile is stranded then. It must
  /// outlive the loan. Null: none is notified.
  ///
  /// Shape:  at most as many bytes as the input has. May be called again.
  /// Throws: Error of kind bad_argument, if it is larger, or the tile is worked on in place; no owner is notified then.
  void use_memory(std::span<std::byte> memory, MemoryOwner* owner = nullptr);
  /// The first input's own bytes, even after use_memory.
  std::span<std::byte> own_input() const noexcept { return uses_memory_ ? own_input_ : parts_.input; }
  /// True if use_memory was called since the tile was borrowed.
  bool uses_memory() const noexcept { return uses_memory_; }

  /// Number of valid bytes of all inputs.
  std::size_t all_filled() const noexcept {
    std::size_t bytes = filled;
    for (std::size_t const more : more_filled) bytes += more;
    return bytes;
  }
  /// Sets the valid bytes of all inputs to none.
  void forget_filled() noexcept {
    filled = 0;
    more_filled = {};
  }
  /// The part of the output that the stage produced.
  std::span<std::byte const> produced_output() const noexcept { return parts_.output.first(produced); }
  /// Index of this tile in its pool.
  std::uint32_t index() const noexcept { return index_; }
  /// Index of the slab of its pool that it was cut from.
  std::size_t pool_part() const noexcept { return pool_part_; }
  /// The pool to which it returns when its Loan dies.
  Pool& home() const noexcept { return *home_; }
  /// A number that the code which passes a tile on stores with it: a Feed stores the thread here, so leave it to the
  /// pipeline. It is 0 until it is set, and 0 again once the tile is in its pool.
  ///
  /// Threads: any.
  std::uint32_t mark() const noexcept { return std::atomic_ref(mark_).load(std::memory_order_relaxed); }
  void set_mark(std::uint32_t mark) const noexcept { std::atomic_ref(mark_).store(mark, std::memory_order_relaxed); }

  std::size_t filled = 0;                 ///< Valid bytes of the input; set by the source.
  std::size_t produced = 0;               ///< Valid bytes of the output; set by the stage.
  std::uint64_t sequence = 0;             ///< Place in the source's order; set by the pipeline.
  std::uint64_t tag = 0;                  ///< The source's own number. FileSource and Records are sources, and use it.
  TileShape::MoreBytes more_filled = {};  ///< Valid bytes of the second, third and fourth input; set by the source.

 private:
  friend class Pool;
  friend class Loan;
  /// Undoes use_memory.
  void use_own_memory() noexcept {
    if (!std::exchange(uses_memory_, false)) return;
    parts_.input = own_input_;
  }
  /// Notifies the owner of the memory that this tile refers to, if there is one.
  void tell_memory_owner() noexcept {
    if (memory_owner_ == nullptr) return;  // Avoids a write to its cache line.
    std::exchange(memory_owner_, nullptr)->take_back(parts_.input);
  }

  // These and the members above fill the first cache line, which has all members that change for each tile pulled.
  std::uint32_t index_ = 0;
  std::uint16_t pool_part_ = 0;
  bool stranded_ = false;
  bool uses_memory_ = false;
  TileParts parts_;
  std::span<std::byte> own_input_;       ///< Own bytes of the first input, while it uses other memory.
  MemoryOwner* memory_owner_ = nullptr;  ///< Owner of the other memory.
  Pool* home_ = nullptr;
  mutable std::uint32_t mark_ = 0;
};

/// Checks that the bytes that fill a tile fit into it.
///
/// Throws: Error of kind bad_argument that begins with `subject`, if `filled` or one of `more_filled` exceeds its
///         input.
void expect_filled_fits(Tile const& tile, std::string const& subject);

/// Exclusive use of one tile. It moves with the work; its destructor returns the tile to the pool.
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

  /// Returns the tile to the pool now.
  void give_back() noexcept;
  /// Strands the tile, so that it never returns: its pool counts it as stranded and does not lend it again. For a tile
  /// that a device may still write to, though no thread waits for it any more.
  void strand() noexcept;

  /// Releases the tile from this loan, to pass it through a queue of plain pointers; `resume` is the counterpart.
  /// Without `resume` the tile never returns to its pool: move the Loan instead, where possible.
  Tile* release() noexcept { return std::exchange(tile_, nullptr); }
  /// Takes over a tile that `release` returned.
  static Loan resume(Tile* tile) noexcept { return Loan(tile); }

 private:
  friend class Pool;
  explicit Loan(Tile* tile) noexcept : tile_(tile) {}
  Tile* tile_ = nullptr;
};

/// The end of a tile. There is no fourth way.
enum class Outcome : std::uint8_t { done, failed, cancelled };

/// Reason and place of one tile's failure.
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

/// The input of a pipeline, written by the user: it decides on the next tile, one at a time, and fills tiles, many at a
/// time.
class Source {
 public:
  virtual ~Source() = default;
  /// Decides on the content of the tile and stores that (in `tile.tag`, or by `tile.sequence`); returns false at the
  /// end of the input, for good.
  ///
  /// The order of these calls is the source's order: `tile.sequence` is 0, 1, 2 ...
  /// Threads: the producers, one at a time.
  /// Blocks:  any time, but neither a stop nor the loss of a device wakes it, and the run cannot end before it returns.
  /// Throws:  anything; the input then ends here, and the report says why.
  virtual bool next(Tile& tile) = 0;
  /// Writes the bytes to `tile.input()` and returns their number; the numbers for other inputs go to
  /// `tile.more_filled`.
  ///
  /// Threads: the producers, several at a time.
  /// Throws:  anything; this tile then fails with stage "source" and keeps its place, the others continue.
  virtual std::size_t fill(Tile& tile) = 0;
  /// Remarks for the report on the way the source worked, a sentence each.
  ///
  /// Threads: the one that waits for the run, once all is filled.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// Element types of the inputs that it fills, if it knows them. Pipeline::run refuses tiles with fewer inputs, or for
  /// elements of other types by `tile_of`.
  virtual TileTypes types() const noexcept { return {}; }
  /// Input that the source did not pass on in tiles, for Report::left_out: one entry for each reason. Input of tiles
  /// that failed is not included.
  ///
  /// Threads: as remarks.
  virtual std::vector<LeftOut> left_out() const { return {}; }
};

}  // namespace penstock
