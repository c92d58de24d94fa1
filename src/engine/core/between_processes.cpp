// SPDX-License-Identifier: Apache-2.0
#include "engine/core/between_processes.hpp"

#include <climits>
#include <ctime>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace penstock {
namespace {

struct flock lock_of(std::size_t which, short type) noexcept {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(which);
  lock.l_len = 1;
  return lock;
}

}  // namespace

void sleep_on(std::atomic<std::uint32_t> const& word, std::uint32_t seen, std::chrono::nanoseconds at_most) noexcept {
  if (at_most.count() <= 0) return;
  timespec const time{.tv_sec = at_most.count() / 1'000'000'000, .tv_nsec = at_most.count() % 1'000'000'000};
  // FUTEX_PRIVATE_FLAG is not set, because processes share the word.
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &time, nullptr, 0);
}

void wake_all_on(std::atomic<std::uint32_t> const& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool lock_byte(int file, std::size_t which) noexcept {
  struct flock lock = lock_of(which, F_WRLCK);
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

void unlock_byte(int file, std::size_t which) noexcept {
  struct flock lock = lock_of(which, F_UNLCK);
  fcntl(file, F_OFD_SETLK, &lock);
}

bool is_byte_locked(int file, std::size_t which) noexcept {
  struct flock lock = lock_of(which, F_WRLCK);
  return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace penstock
