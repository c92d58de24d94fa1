// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/file_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "engine/core/number_text.hpp"

namespace penstock {
namespace {

/// Names of the ways, in the order of the report.
constexpr std::array ways{
    std::pair{ReadWay::plain, "through the page cache"},
    std::pair{ReadWay::direct, "past the page cache"},
};

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

/// True for most files in a container. They have no pages of their own: the page cache has those of the files below.
bool on_overlay(int descriptor) {
  struct statfs system {};
  return fstatfs(descriptor, &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace

std::size_t FileReader::read(OpenFile& file, std::uint64_t offset, std::span<std::byte> to) {
  if (wants_direct(file, offset, to.size())) {
    if (auto const access = direct(file, offset, to)) {
      note(ReadWay::direct);
      std::size_t const whole = to.size() / access->alignment * access->alignment;
      ssize_t const got = pread(access->descriptor, to.data(), whole, static_cast<off_t>(offset));
      if (got < 0 && errno == EINVAL) file.refuse_direct(EINVAL);
      // The rest is too small for a direct read, or the direct read was interrupted or refused.
      auto const filled = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
      return filled + file.read_at(offset + filled, to.subspan(filled));
    }
  }
  note(ReadWay::plain);
  return file.read_at(offset, to);
}

bool FileReader::wants_direct(OpenFile const& file, std::uint64_t offset, std::size_t bytes) {
  if (options_.reading == FileReading::direct) return true;
  if (options_.reading != FileReading::automatic) return false;
  if (bytes < options_.direct_from) {
    note("what is below " + size_text(options_.direct_from) + " is better left to the page cache");
    return false;
  }
  if (!in_page_cache(file.descriptor(), offset, bytes)) return true;
  note("the page cache had them");
  return false;
}

std::optional<DirectAccess> FileReader::direct(OpenFile& file, std::uint64_t offset, std::span<std::byte> to) {
  auto const& access = file.direct();
  if (!access) {
    note("past the page cache: " + file.direct_refusal());
    return std::nullopt;
  }
  auto const place = reinterpret_cast<std::uintptr_t>(to.data());
  if (place % access->alignment != 0 || offset % access->alignment != 0) {
    note("past the page cache only what begins at multiples of " + std::to_string(access->alignment) +
         " bytes can be read: make tiles a multiple of that");
    return std::nullopt;
  }
  if (to.size() < access->alignment) return std::nullopt;
  return access;
}

void FileReader::note(std::string const& reason) {
  if (std::find(reasons_.begin(), reasons_.end(), reason) == reasons_.end()) reasons_.push_back(reason);
}

std::size_t FileReaders::read(OpenFile& file, std::uint64_t offset, std::span<std::byte> to) {
  struct Idle {
    FileReaders& all;
    FileReader* reader = nullptr;
    explicit Idle(FileReaders& of) : all(of) {
      std::scoped_lock const lock(all.mutex_);
      if (all.idle_.empty()) {
        // The return of a reader must not throw.
        all.idle_.reserve(all.readers_.size() + 1);
        reader = &all.readers_.emplace_back(all.options_);
      } else {
        reader = all.idle_.back();
        all.idle_.pop_back();
      }
    }
    Idle(Idle const&) = delete;
    Idle& operator=(Idle const&) = delete;
    ~Idle() {
      std::scoped_lock const lock(all.mutex_);
      all.idle_.push_back(reader);
    }
  };
  Idle const idle(*this);
  return idle.reader->read(file, offset, to);
}

std::string FileReaders::describe() {
  std::scoped_lock const lock(mutex_);
  std::string how;
  for (auto const& [way, name] : ways) {
    std::uint64_t pieces = 0;
    for (FileReader const& reader : readers_) pieces += reader.count(way);
    if (pieces != 0) how += (how.empty() ? "" : ", ") + std::to_string(pieces) + " " + name;
  }
  if (how.empty()) return {};
  std::set<std::string> reasons;
  for (FileReader const& reader : readers_) reasons.insert(reader.reasons().begin(), reader.reasons().end());
  std::string why;
  for (std::string const& reason : reasons) why += "; " + reason;
  return "Reads of files: " + how + why + ".";
}

bool in_page_cache(int descriptor, std::uint64_t offset, std::size_t bytes) {
  if (bytes == 0) return true;
  CachestatRange range{offset, bytes};
  Cachestat found{};
  if (syscall(cachestat_number, descriptor, &range, &found, 0U) == 0) {
    return 2 * found.cached * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) >= bytes || on_overlay(descriptor);
  }
  // There is no cachestat before Linux 6.5 or for another user's file: probe both ends.
  return there(descriptor, offset) && there(descriptor, offset + bytes - 1);
}

}  // namespace penstock
