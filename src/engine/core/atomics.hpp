// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace penstock {

/// The atomics that lock-free structures are made of: the standard's, and the kernel's futex.
///
/// Each structure takes such a policy as a template parameter, so that tests run the same code on other atomics: on
/// some that stop a thread in front of one operation, and on those of a checker of the memory model.
struct StandardAtomics {
  template <class Value>
  using Atomic = std::atomic<Value>;

  /// Memory that is not atomic: a structure's atomics order the accesses to it.
  template <class Value>
  class Plain {
   public:
    Value read() const noexcept { return value_; }
    void write(Value const& value) noexcept { value_ = value; }

   private:
    Value value_{};
  };

  /// Sleeps until `wake_all` is called for `word`, or for about `at_most`; returns at once if `word` is not `expected`.
  /// May return early for no reason.
  ///
  /// Blocks: yes.
  static void wait(Atomic<std::uint32_t> const& word, std::uint32_t expected,
                   std::chrono::nanoseconds at_most) noexcept;
  /// Looks at the address of `word` only, so the word may be gone.
  static void wake_all(Atomic<std::uint32_t> const& word) noexcept;

  /// A different number for each thread.
  static std::size_t number_of_thread() noexcept;
};

}  // namespace penstock
