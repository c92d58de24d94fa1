// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace penstock {

/// Some bytes of a file that are wanted, and what came of it.
struct PieceRead {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::span<std::byte> to = {};
  /// Bytes that were read, which may be fewer than there are; or an error's number, negative. The caller reads on by
  /// itself, and hears then what is wrong.
  std::int64_t result = 0;
};

/// Reads several pieces at once. io_uring in production; tests have others.
///
/// Threads: one at a time.
class ReadQueue {
 public:
  virtual ~ReadQueue() = default;
  /// Reads all of them, at most as many as the queue was made for.
  ///
  /// Blocks: until the last one has ended, so that no request writes to the tile any more.
  virtual void read(std::span<PieceRead> pieces) = 0;
  /// False once it has broken down; what it did not read then has an error as its result.
  virtual bool usable() const noexcept = 0;
};

/// Makes a queue for `depth` pieces into `memory`, or into any if that is empty; null if there can be none. What it
/// could not have is added to `remarks`.
using OpenReadQueue = std::function<std::unique_ptr<ReadQueue>(unsigned depth, std::span<std::byte> memory,
                                                               std::vector<std::string>& remarks)>;

/// An OpenReadQueue of io_uring's; null if this build has none, or if the kernel refuses it.
std::unique_ptr<ReadQueue> open_uring(unsigned depth, std::span<std::byte> memory, std::vector<std::string>& remarks);

}  // namespace penstock
