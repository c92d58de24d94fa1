// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "penstock/decoding/compression.hpp"

namespace penstock {

/// Where a member of a compressed file is, as far as that can be told without decoding it.
struct Member {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t most = 0;  ///< It decodes to no more bytes than that.
};

/// Reads from an offset of a compressed file; fewer bytes than asked for only at its end.
using ReadCompressed = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

/// The member that begins at `begin` of a file of `size` bytes: of gzip one that says its size as BGZF has it, and
/// each frame of zstd or lz4. Nothing if it cannot be told where it ends, if that is not within the file, or if it may
/// decode to more than `most` bytes. What it says is believed: the bytes may be damaged.
///
/// It reads what is in front of each block, so of a frame of a mebibyte a few dozen bytes.
///
/// Threads: any.
/// Throws:  what `read` throws.
/// Source:  SAM/BAM specification, 4.1; RFC 8878, 3.1.1; the format of lz4 frames, 1.6.1.
std::optional<Member> find_member(Compression compression, ReadCompressed const& read, std::uint64_t begin,
                                  std::uint64_t size, std::uint64_t most);

/// How a file is compressed that begins with skippable frames: by zstd, unless a frame of lz4 is behind them.
///
/// Threads, throws: as find_member.
Compression compression_behind_skippable(ReadCompressed const& read);

}  // namespace penstock
