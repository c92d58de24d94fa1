// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "penstock/decoding/members.hpp"

namespace penstock {

/// Some blocks of a frame of lz4, which can be decoded without the others.
struct FramePart {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t most = 0;  ///< They decode to no more bytes than that.
  /// In front of them and behind them these bytes make a frame of them. If nothing is behind, the file ends within the
  /// frame, or no block can be as it says.
  std::string before = {}, behind = {};
  bool first = false;         ///< Of its frame.
  bool has_checksum = false;  ///< The frame has one of all that it decodes to.
  /// Behind the last part: that checksum, and how much the frame says it decodes to.
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
  /// Of the frame at `begin` of a file of `size` bytes; nothing, if there is none, or its blocks depend on each other.
  static std::optional<Lz4Parts> of(ReadCompressed const& read, std::uint64_t begin, std::uint64_t size);

  /// The next part: as many blocks as decode to about `wanted` bytes, one at least.
  FramePart next(ReadCompressed const& read, std::uint64_t wanted);
  bool ended() const noexcept { return ended_; }
  /// Where the next part begins, or what is behind the frame.
  std::uint64_t at() const noexcept { return at_; }

 private:
  Lz4Parts() = default;
  FramePart end(ReadCompressed const& read, FramePart part);

  std::uint64_t size_ = 0;  ///< Of the file.
  std::uint64_t at_ = 0;
  std::uint64_t block_bytes_ = 0;
  unsigned flags_ = 0, kind_ = 0;  ///< Of a header for a part.
  bool has_checksum_ = false, first_ = true, ended_ = false;
  std::optional<std::uint64_t> bytes_;
};

}  // namespace penstock
