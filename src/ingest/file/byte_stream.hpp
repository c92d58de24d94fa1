// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>

namespace penstock {

/// Bytes that are read once, from their beginning to their end.
///
/// Threads: one at a time.
/// Throws:  FileProblem, without the file's name.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Result of a read.
  struct Gathered {
    std::size_t bytes = 0;
    bool ended = false;  ///< The stream is at its end, or a stop was requested.
  };
  /// Reads until `to` is full; or, if others write the bytes meanwhile, until `linger` has passed since the first byte
  /// and no more is available at once. If data keeps coming, it ends 5 ms after the first byte. Without `linger` it
  /// ends only when `to` is full.
  ///
  /// Blocks: until there is input or, a tenth of a second later at most, `stop` is requested; and then for `linger`.
  virtual Gathered gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                          std::stop_token const& stop) = 0;
  /// True if bytes were read from a pipe that no `gather` has given yet; after a stop it gives these, and reads no
  /// more.
  virtual bool holds() const noexcept { return false; }
};

}  // namespace penstock
