// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/page_cache.hpp"

#include <cerrno>

#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace penstock {
namespace {

/// cachestat(2), which is newer than the headers of Debian 12. It has the same number on every architecture.
constexpr long cachestat_number = 451;
struct CachestatRange {
  std::uint64_t offset;
  std::uint64_t bytes;
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/// True if this byte can be read without waiting for a disk. The kernel may begin to read ahead from there.
bool there(int descriptor, std::uint64_t offset) {
  std::byte one{};
  iovec const to{&one, 1};
  return preadv2(descriptor, &to, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

/// True of most files in a container. They have no pages of their own: the page cache has those of the files below.
bool on_overlay(int descriptor) {
  struct statfs system {};
  return fstatfs(descriptor, &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace

bool in_page_cache(int descriptor, std::uint64_t offset, std::size_t bytes) {
  if (bytes == 0) return true;
  CachestatRange range{offset, bytes};
  Cachestat found{};
  if (syscall(cachestat_number, descriptor, &range, &found, 0U) == 0) {
    return 2 * found.cached * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) >= bytes || on_overlay(descriptor);
  }
  // Before Linux 6.5, or of a file that is not ours.
  return there(descriptor, offset) && there(descriptor, offset + bytes - 1);
}

}  // namespace penstock
