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

  /// What was read.
  struct Gathered {
    std::size_t bytes = 0;
    bool ended = false;  ///< The stream is at its end, or a stop is requested.
  };
  /// Reads on until `to` is full; or, where bytes come as others write them, until `linger` has passed since the first
  /// byte and no more is there at once. While more comes all the time, 5 ms since the first byte suffice. Without
  /// `linger` only `to` full is enough.
  ///
  /// Blocks: until there is input or, a tenth of a second later at most, `stop` is requested; and then for `linger`.
  virtual Gathered gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                          std::stop_token const& stop) = 0;
  /// Bytes of a pipe were read that no `gather` has given yet; after a stop it gives these, and reads no more.
  virtual bool holds() const noexcept { return false; }
};

}  // namespace penstock
