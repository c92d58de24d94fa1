// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ingest/decoding/members.hpp"

namespace penstock {

/// Some blocks of a frame of lz4, which can be decoded without the others.
struct FramePart {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t most = 0;  ///< Maximum number of bytes that they decode to.
  /// Bytes that make a frame of the blocks when put in front of them and behind them. If `behind` is empty, the file
  /// ends within the frame, or a block is not valid.
  std::string before = {}, behind = {};
  bool first = false;         ///< First part of its frame.
  bool has_checksum = false;  ///< The frame has a checksum of all its decoded bytes.
  /// Checksum of the frame, and its decoded size as stated in the frame; only in the last part.
  std::optional<std::uint32_t> checksum = {};
  std::optional<std::uint64_t> bytes = {};
};

/// Finds the parts of one frame of lz4 whose blocks do not depend on each other.
///
/// Threads: one at a time.
/// Throws:  what `read` throws.
/// Source:  the format of lz4 frames, 1.6.1.
class Lz4Parts {
 public:
  /// Parts of the frame at `begin` of a file of `size` bytes; nothing if there is none, or its blocks depend on each
  /// other.
  static std::optional<Lz4Parts> of(ReadCompressed const& read, std::uint64_t begin, std::uint64_t size);

  /// The next part: as many blocks as decode to about `wanted` bytes, one at least.
  FramePart next(ReadCompressed const& read, std::uint64_t wanted);
  bool ended() const noexcept { return ended_; }
  /// Beginning of the next part, or the end of the frame.
  std::uint64_t at() const noexcept { return at_; }

 private:
  Lz4Parts() = default;
  FramePart end(ReadCompressed const& read, FramePart part);

  std::uint64_t size_ = 0;  ///< Size of the file.
  std::uint64_t at_ = 0;
  std::uint64_t block_bytes_ = 0;
  unsigned flags_ = 0, kind_ = 0;  ///< Flags and kind for the header of a part.
  bool has_checksum_ = false, first_ = true, ended_ = false;
  std::optional<std::uint64_t> bytes_;
};

}  // namespace penstock
