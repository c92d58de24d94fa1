// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace penstock::support {

constexpr unsigned cachestat_number = 451;

/// Writes a file back, since a page can leave the page cache only once it is on its disk.
inline void write_back(std::string const& path) {
  int const written = open(path.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(fsync(written), 0);
  close(written);
}

/// Number of pages of a file that the page cache keeps, by mincore(2), which reads nothing ahead and sees through
/// overlayfs.
struct KeptPages {
  std::size_t kept, all;

  static KeptPages of(int descriptor, std::size_t bytes) {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((bytes + page - 1) / page);
    void* const seen = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    EXPECT_NE(seen, MAP_FAILED);
    EXPECT_EQ(mincore(seen, bytes, pages.data()), 0);
    munmap(seen, bytes);
    auto const kept = std::ranges::count_if(pages, [](unsigned char one) { return (one & 1U) != 0; });
    return {static_cast<std::size_t>(kept), pages.size()};
  }
};

/// Asks the system to drop the file from the page cache. True if it then keeps no page of it.
inline bool leaves(int descriptor, std::size_t bytes) {
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  return KeptPages::of(descriptor, bytes).kept == 0;
}

/// Result of `look` while the page cache keeps all of the file. A system that is short of memory may take pages back at
/// any time, so only a look counts before and after which all were there. Empty if none of a hundred did.
template <class Look>
std::optional<std::invoke_result_t<Look&>> while_kept(int descriptor, std::size_t bytes, Look look) {
  auto const all_kept = [&] {
    auto const pages = KeptPages::of(descriptor, bytes);
    return pages.kept == pages.all;
  };
  std::vector<std::byte> whole(bytes);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(pread(descriptor, whole.data(), bytes, 0), static_cast<ssize_t>(bytes));
    if (!all_kept()) continue;
    auto const seen = look();
    if (all_kept()) return seen;
  }
  return std::nullopt;
}

/// True if the system can say that the page cache does not have a file. cachestat(2) cannot on overlayfs, whose files
/// have no pages of their own; RWF_NOWAIT cannot if a file system does not know it, or if a disk reads at once what is
/// asked for.
inline bool system_tells_what_left(int descriptor, std::size_t bytes) {
  struct {
    std::uint64_t offset, bytes;
  } range{0, bytes};
  struct {
    std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
  } found{};
  bool refused = false;
  auto const counted = while_kept(descriptor, bytes, [&] {
    refused = syscall(cachestat_number, descriptor, &range, &found, 0U) != 0;
    return found.cached > 0;
  });
  if (!refused) return counted.value_or(false);
  for (int i = 0; i < 100; ++i) {
    std::byte one{};
    iovec const to{&one, 1};
    if (leaves(descriptor, bytes) && preadv2(descriptor, &to, 1, 0, RWF_NOWAIT) < 0 && errno == EAGAIN) return true;
  }
  return false;
}

}  // namespace penstock::support
