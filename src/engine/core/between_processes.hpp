// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace penstock {

/// Sleeps until `wake_all_on` is called for `word`, which processes share, or for about `at_most`; returns at once if
/// the word is not `seen`. May return early for no reason.
///
/// Blocks: yes.
void sleep_on(std::atomic<std::uint32_t> const& word, std::uint32_t seen, std::chrono::nanoseconds at_most) noexcept;
/// Wakes the threads of all processes that sleep on `word`.
void wake_all_on(std::atomic<std::uint32_t> const& word) noexcept;

/// Locks byte `which` of an open file, which belongs to the file as it was opened: the system gives it back when the
/// last process that has that ends, however it ends. False if another has it, or the system refuses; errno says which.
bool lock_byte(int file, std::size_t which) noexcept;
void unlock_byte(int file, std::size_t which) noexcept;
/// True if the byte is locked through another opening of the file, or the system does not say.
bool is_byte_locked(int file, std::size_t which) noexcept;

}  // namespace penstock
