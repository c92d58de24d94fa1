// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock {

/// A number that any thread may read. Threads change it one after the other, and the mechanism that serialises them
/// orders their work. A change is therefore no atomic read-modify-write, which costs as much as examining a small
/// packet.
///
/// Threads: the one that has its turn; `now` any.
class Count {
 public:
  void add(std::uint64_t more) noexcept { set(now() + more); }
  void take(std::uint64_t fewer) noexcept { set(now() - fewer); }
  std::uint64_t now() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> value_{0};
};

}  // namespace penstock
