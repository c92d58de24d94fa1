// SPDX-License-Identifier: Apache-2.0
// A ring of slots in memory that processes share: one of them reads, others write. And the ring as the source of a
// pipeline. A writer's program links nothing of the engine: a source needs only tiles.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Size of a ring. Each writer has its own slots.
struct SharedRingShape {
  std::size_t slot_bytes = std::size_t{1} << 20;  ///< Maximum size of one piece.
  std::uint32_t slots = 16;                       ///< Number of slots for each writer.
  std::uint32_t writers = 1;                      ///< Maximum number of simultaneous writers: at most 256.
};

/// Counts of a ring so far, for its reader.
struct SharedRingCounts {
  std::uint64_t writers = 0;     ///< Writers that have connected.
  std::uint64_t died = 0;        ///< Writers that ended without closing their side, or were killed.
  std::uint64_t pieces = 0;      ///< Pieces read.
  std::uint64_t bytes = 0;       ///< Bytes read.
  std::uint64_t lost = 0;        ///< Pieces that writers report as dropped, by SharedRingWriter::note_dropped.
  std::uint64_t refused = 0;     ///< Pieces whose stated size exceeds a slot.
  std::uint64_t damaged = 0;     ///< Places whose memory was overwritten; nothing more is read from them.
  std::uint64_t unfinished = 0;  ///< Slots claimed by writers that died before they committed. Their content is not
                                 /// read.
  std::uint64_t unread = 0;      ///< Pieces committed that are still in the ring.
  std::uint64_t out = 0;         ///< Slots that tiles refer to now.
};

/// The reader's side: it makes the memory, and writers connect to it. A SharedRingSource feeds a pipeline from it.
///
/// The memory has no file: it is freed once both sides have ended, however they end. No data of a writer can make the
/// reader read beyond a slot, or prevent its stop. Writers of one ring can disturb each other.
///
/// Threads: any.
class SharedRing {
 public:
  /// Makes a ring for processes that get the descriptor, by fork or over a Unix socket.
  ///
  /// Blocks: until the system has made the pages, some 0.3 s a GiB.
  /// Throws: Error of kind bad_argument, for an invalid shape; of kind system, if there is too little memory.
  explicit SharedRing(SharedRingShape const& shape);
  /// Makes a ring for processes of the same user, with the same /proc, which find it by `path`: a symbolic link to the
  /// memory. A link of a reader that has ended is replaced; the link is removed with this object.
  ///
  /// Throws: as above; Error of kind bad_argument, if something else is at `path`, or a reader that is still running.
  SharedRing(std::string path, SharedRingShape const& shape);
  SharedRing(SharedRing const&) = delete;
  SharedRing& operator=(SharedRing const&) = delete;
  /// Writers get an Error from now on. No tile may refer to a slot any more, and the memory must be unpinned.
  ~SharedRing();

  SharedRingShape const& shape() const noexcept;
  /// All slots, for pinning: `Pinned const pinned = device.pin(ring.memory());`
  ///
  /// Shape: whole pages. Each slot begins at a multiple of 4096 bytes.
  std::span<std::byte> memory() const noexcept;
  /// Descriptor of the memory, for SharedRingWriter in a process to which it is passed. A process that is forked
  /// meanwhile has it as well, and this reader counts as present until that process closes it or ends.
  int descriptor() const noexcept;
  SharedRingCounts counts() const;

 private:
  friend class SharedRingSource;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The writer's side, which needs no pipeline: claim a slot, write, commit.
///
///     SharedRingWriter writer("/run/user/1000/samples");
///     std::span<std::byte> const room = writer.claim();
///     writer.commit(receive(room));
///
/// Pieces of one writer are read in the order of their commits. The reader sees nothing of a slot before its commit.
///
/// Threads: one at a time. Threads that write at the same time need a writer each. A process that is forked meanwhile
///          keeps the writer's place until it ends.
class SharedRingWriter {
 public:
  /// Takes a place of the ring whose reader made `path`.
  ///
  /// Throws: Error of kind bad_argument, if there is no ring, or one of another version; of kind system, if its reader
  ///         has ended, or other writers have all places.
  explicit SharedRingWriter(std::string const& path);
  /// The same with a descriptor, which it closes.
  explicit SharedRingWriter(int descriptor);
  SharedRingWriter(SharedRingWriter const&) = delete;
  SharedRingWriter& operator=(SharedRingWriter const&) = delete;
  /// Gives up a claim, and notifies the reader that no more comes.
  ~SharedRingWriter();

  SharedRingShape const& shape() const noexcept;
  /// Number of its place, from 0.
  std::size_t place() const noexcept;

  /// All bytes of the next slot. It returns the same slot until that is committed.
  ///
  /// Blocks: until the reader has returned a slot.
  /// Throws: Error of kind system, once the reader has ended, within about 100 ms if it was killed; or if it refuses
  ///         this writer, since its memory was overwritten.
  std::span<std::byte> claim();
  /// The same; empty if no slot becomes free within `at_most`.
  ///
  /// Throws: as claim. A reader that was killed is noticed only once all slots are taken.
  std::optional<std::span<std::byte>> try_claim(std::chrono::nanoseconds at_most = {});
  /// Passes on the first `bytes` of the slot that was claimed last, with a number of the application's own. If the
  /// reader refuses this writer, the call still returns normally, and the next claim throws.
  ///
  /// Blocks: never.
  /// Throws: Error of kind bad_argument, if no slot is claimed, or it has fewer bytes.
  void commit(std::size_t bytes, std::uint64_t tag = 0);
  /// Notifies the reader that this number of pieces was left out here, for instance because no slot was free. They have
  /// sequence numbers as others have.
  ///
  /// Blocks: never.
  void note_dropped(std::uint64_t pieces = 1) noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The data of one commit of a writer.
///
/// Units: bytes.
struct SharedPiece {
  std::size_t place = 0;       ///< SharedRingWriter::place of its writer.
  std::uint64_t sequence = 0;  ///< Its number among the pieces of that place, including dropped ones.
  std::uint64_t tag = 0;       ///< The writer's own number.
  std::size_t offset = 0;      ///< Offset in the tile.
  std::size_t bytes = 0;
};

struct SharedRingSourceOptions {
  /// Ends the input. Data in the ring stays there, for another source.
  std::stop_token stop = {};
  /// Number of writers that end the input: once as many have connected since the ring was made, all have ended or were
  /// killed, and their commits are read. Empty: only a stop ends it.
  std::optional<std::uint64_t> writers = 1;
  /// Ends the input after this time without data, while the source waited and no tile referred to a slot. Empty:
  /// silence does not end it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// Copies whole pieces into tiles, as many as are there and fit; their slots are free at once. For pieces that are
  /// much smaller than a tile.
  bool copies = false;
};

/// Feeds a pipeline from a SharedRing.
///
/// Each tile refers to a slot (Tile::use_memory): no byte is copied, and the writer gets the slot back when the tile's
/// loan dies. The memory is to be pinned with the devices. Tile::tag is the tag of the first piece.
///
/// Threads: as Source; `pieces_of` is for the thread that holds the tile.
class SharedRingSource final : public Source {
 public:
  /// `ring` and `pool` must outlive this; `ring` must outlive each loan that this has filled.
  ///
  /// Throws: Error of kind bad_argument, if a slot is larger than a tile's input, tiles are worked on in place, or the
  ///         ring has a source.
  SharedRingSource(SharedRing& ring, Pool const& pool, SharedRingSourceOptions options = {});
  SharedRingSource(SharedRingSource const&) = delete;
  SharedRingSource& operator=(SharedRingSource const&) = delete;
  ~SharedRingSource() override;

  /// Blocks: until a piece was committed, or the input ends. A writer that was killed is noticed within about 100 ms.
  bool next(Tile& tile) override;
  /// Blocks: never.
  std::size_t fill(Tile& tile) override;
  /// Remarks on losses, and on the ends of writers.
  std::vector<std::string> remarks() const override;
  /// Pieces that are in no tile, with the reasons.
  ///
  /// Threads: any, while none is in `next` or `fill`.
  std::vector<LeftOut> left_out() const override;
  /// Pieces of a tile that is filled: one, or with `copies` one or more.
  std::vector<SharedPiece> const& pieces_of(Tile const& tile) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
