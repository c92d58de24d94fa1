// SPDX-License-Identifier: Apache-2.0
// A ring of slots in memory that processes share: one of them reads, others write.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "penstock/error.hpp"

namespace penstock {

/// How large a ring is. Each writer has so many slots of its own.
struct SharedRingShape {
  std::size_t slot_bytes = std::size_t{1} << 20;  ///< The most that one piece has.
  std::uint32_t slots = 16;                       ///< For each writer.
  std::uint32_t writers = 1;                      ///< At the same time, at most 256.
};

/// What has come through a ring so far, for its reader.
struct SharedRingCounts {
  std::uint64_t writers = 0;     ///< That have come.
  std::uint64_t died = 0;        ///< Of them, those that ended without closing their side, or were killed.
  std::uint64_t pieces = 0;      ///< Read.
  std::uint64_t bytes = 0;       ///< Read.
  std::uint64_t lost = 0;        ///< What writers say that they left out, by SharedRingWriter::note_dropped.
  std::uint64_t refused = 0;     ///< Pieces that say that they are longer than a slot.
  std::uint64_t damaged = 0;     ///< Places whose memory was written over, and of which nothing more is read.
  std::uint64_t unfinished = 0;  ///< Claimed by writers that died before they committed. Nothing of them is seen.
  std::uint64_t unread = 0;      ///< Committed, and in the ring.
  std::uint64_t out = 0;         ///< Slots that tiles stand for now.
};

/// The reader's side: it makes the memory, and writers come to it. A SharedRingSource (shared_ring_source.hpp) feeds a
/// pipeline from it.
///
/// The memory has no file: it is gone once both sides have gone, however they end. Nothing that a writer puts there can
/// make the reader read beyond a slot, or keep it from a stop. Writers of one ring can disturb each other.
///
/// Threads: any.
class SharedRing {
 public:
  /// For processes that get the descriptor, by fork or over a Unix socket.
  ///
  /// Blocks: until the system has made the pages, some 0.3 s a GiB.
  /// Throws: Error of kind bad_argument, for a shape that cannot be; of kind system, if there is too little memory.
  explicit SharedRing(SharedRingShape const& shape);
  /// For processes of the same user, with the same /proc, which find it by `path`: that is made a symbolic link to the
  /// memory. A link of a reader that is gone is replaced, and the link is removed with this.
  ///
  /// Throws: as above; Error of kind bad_argument, if something else is at `path`, or a reader that is still there.
  SharedRing(std::string path, SharedRingShape const& shape);
  SharedRing(SharedRing const&) = delete;
  SharedRing& operator=(SharedRing const&) = delete;
  /// Writers get an Error from here on. No tile may stand for a slot any more, and its memory is not pinned any more.
  ~SharedRing();

  SharedRingShape const& shape() const noexcept;
  /// All slots, to be pinned: `Pinned const pinned = device.pin(ring.memory());`
  ///
  /// Shape: whole pages. Each slot begins at a multiple of 4096 bytes.
  std::span<std::byte> memory() const noexcept;
  /// The memory's, for SharedRingWriter in a process to which it is passed. A process that is forked meanwhile has it
  /// as well, and this reader counts as being there until it closes it or ends.
  int descriptor() const noexcept;
  SharedRingCounts counts() const;

 private:
  friend class SharedRingSource;
  struct Parts;
  std::unique_ptr<Parts> const parts_;
};

/// The writer's side, which needs no pipeline: claim a slot, write, commit.
///
///     SharedRingWriter writer("/run/user/1000/samples");
///     std::span<std::byte> const room = writer.claim();
///     writer.commit(receive(room));
///
/// What one writer commits is read in that order. The reader sees nothing of a slot before its commit.
///
/// Threads: one at a time. Threads that write at once have a writer each. A process that is forked meanwhile keeps the
///          writer's place until it ends.
class SharedRingWriter {
 public:
  /// Takes a place of the ring whose reader made `path`.
  ///
  /// Throws: Error of kind bad_argument, if there is no ring, or one of another version; of kind system, if its reader
  ///         is gone, or other writers have all places.
  explicit SharedRingWriter(std::string const& path);
  /// The same by a descriptor, which it closes.
  explicit SharedRingWriter(int descriptor);
  SharedRingWriter(SharedRingWriter const&) = delete;
  SharedRingWriter& operator=(SharedRingWriter const&) = delete;
  /// Gives up a claim, and says to the reader that no more comes.
  ~SharedRingWriter();

  SharedRingShape const& shape() const noexcept;
  /// Which place it has, from 0.
  std::size_t place() const noexcept;

  /// All bytes of the next slot. It is the same one until it is committed.
  ///
  /// Blocks: until the reader has given one back.
  /// Throws: Error of kind system, once the reader has ended, within about 100 ms if it was killed; or if it refuses
  ///         this writer, since its memory was written over.
  std::span<std::byte> claim();
  /// The same; empty if there is none for so long.
  ///
  /// Throws: as claim. A reader that was killed is noticed only once all slots are taken.
  std::optional<std::span<std::byte>> try_claim(std::chrono::nanoseconds at_most = {});
  /// Hands over the first `bytes` of the slot that was claimed last, with a number of the application's own. If the
  /// reader refuses this writer, it returns as ever, and the next claim says so.
  ///
  /// Blocks: never.
  /// Throws: Error of kind bad_argument, if none is claimed, or it has not so many bytes.
  void commit(std::size_t bytes, std::uint64_t tag = 0);
  /// Tells the reader that so many pieces were left out here, because no slot was free, say. They have sequence numbers
  /// as others have.
  ///
  /// Blocks: never.
  void note_dropped(std::uint64_t pieces = 1) noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
