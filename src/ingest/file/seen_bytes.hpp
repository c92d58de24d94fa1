// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace penstock {

/// The first bytes of a growing file, and the last ones in front of the position up to which it was read. If either
/// differ, the file was truncated and rewritten, whatever its size by now.
///
/// Threads: one at a time.
class SeenBytes {
 public:
  static constexpr std::size_t most_bytes = 1024;  ///< Maximum size of each part.
  /// Reads from an offset of the file; fewer bytes than asked for only at its end.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

  /// Adds bytes that were read at this offset, behind those of the last call.
  void add(std::uint64_t offset, std::span<std::byte const> bytes);
  /// True if the file has the same bytes at the same places.
  ///
  /// Throws: what `read` throws.
  bool are_there(Read const& read) const;

 private:
  std::vector<std::byte> first_, last_;
  std::uint64_t begin_ = 0, end_ = 0;  ///< Range of all bytes that were added.
};

}  // namespace penstock
