// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/core/atomics.hpp"

namespace penstock {

/// Rundown protection: lets any number of threads in while it is open, and closes once the last of them has left.
///
/// A thread counts itself in one of several words, each in a cache line of its own, so that threads that come in for
/// every tile do not wait for one another. Each word also tells whether it is closed, so a thread that counts itself
/// learns in the same step whether it is in. To leave is one step, too: once it is closed, the rundown may die.
///
/// Threads: any.
template <class Atomics = StandardAtomics, std::size_t words = 16>
class BasicRundown {
  using Word = typename Atomics::template Atomic<std::uint32_t>;

 public:
  /// Leaves when it dies, if it came in.
  class Pass {
   public:
    explicit Pass(BasicRundown& rundown) noexcept : word_(rundown.enter()) {}
    Pass(Pass const&) = delete;
    Pass& operator=(Pass const&) = delete;
    ~Pass() {
      if (word_ != nullptr) leave(*word_);
    }
    explicit operator bool() const noexcept { return word_ != nullptr; }

   private:
    Word* const word_;
  };

  explicit BasicRundown(bool open) noexcept {
    for (Count& count : counts_) count.word.store(open ? 0 : closed, std::memory_order_relaxed);
  }
  BasicRundown(BasicRundown const&) = delete;
  BasicRundown& operator=(BasicRundown const&) = delete;

  void open() noexcept {
    // Release: a thread that comes in sees what was done before.
    for (Count& count : counts_) count.word.fetch_and(~closed, std::memory_order_release);
  }
  /// From here on no thread comes in. False if it was closed already.
  ///
  /// Blocks: until all that are in have left; so never while the caller is in.
  bool close() {
    // The first word decides between two that close it.
    if ((counts_.front().word.fetch_or(closed, std::memory_order_relaxed) & closed) != 0) return false;
    for (Count& count : counts_) count.word.fetch_or(closed, std::memory_order_relaxed);
    for (Count& count : counts_) {
      // Acquire: what was done inside is done.
      std::uint32_t now = count.word.load(std::memory_order_acquire);
      while (now != closed) {
        Atomics::wait(count.word, now, std::chrono::hours(1));
        now = count.word.load(std::memory_order_acquire);
      }
    }
    return true;
  }

 private:
  static constexpr std::uint32_t closed = std::uint32_t{1} << 31;  ///< Below it, the threads inside.
  struct alignas(64) Count {
    Word word{0};
  };

  Word* enter() noexcept {
    Word& word = counts_[Atomics::number_of_thread() % words].word;
    // Threads that are refused again and again wake none that waits.
    if ((word.load(std::memory_order_relaxed) & closed) != 0) return nullptr;
    if ((word.fetch_add(1, std::memory_order_acquire) & closed) == 0) return &word;
    leave(word);
    return nullptr;
  }
  static void leave(Word& word) noexcept {
    // The last access: a thread that finds the word closed and empty may free it. To wake takes its address only.
    if (word.fetch_sub(1, std::memory_order_release) == (closed | 1)) Atomics::wake_all(word);
  }

  std::array<Count, words> counts_;
};

using Rundown = BasicRundown<>;

}  // namespace penstock
