// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "ingest/decoding/compression.hpp"

namespace penstock {

/// Place of a member of a compressed file, as far as it is known without decoding.
struct Member {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t most = 0;  ///< Maximum number of bytes that it decodes to.
};

/// Reads from an offset of a compressed file; fewer bytes than asked for only at its end.
using ReadCompressed = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

/// The member that begins at `begin` of a file of `size` bytes: a member of gzip that states its size in the way of
/// BGZF, or any frame of zstd or lz4. Nothing if its end cannot be determined, is not within the file, or if it may
/// decode to more than `most` bytes. The stated sizes are not verified: the bytes may be damaged.
///
/// It reads only the head of each block, a few dozen bytes for a frame of a mebibyte.
///
/// Threads: any.
/// Throws:  what `read` throws.
/// Source:  SAM/BAM specification, 4.1; RFC 8878, 3.1.1; the format of lz4 frames, 1.6.1.
std::optional<Member> find_member(Compression compression, ReadCompressed const& read, std::uint64_t begin,
                                  std::uint64_t size, std::uint64_t most);

/// Compression of a file that begins with skippable frames: zstd, unless a frame of lz4 follows them.
///
/// Threads, throws: as find_member.
Compression compression_behind_skippable(ReadCompressed const& read);

}  // namespace penstock
