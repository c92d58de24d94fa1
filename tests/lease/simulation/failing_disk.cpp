// SPDX-License-Identifier: Apache-2.0
#include "lease/simulation/failing_disk.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <utility>

#include <sqlite3.h>

namespace penstock::simulation {
namespace {

constexpr std::size_t sector = 512;

std::string content_of(std::string const& path) {
  std::ifstream const file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return std::move(all).str();
}

std::int64_t size_of(std::string const& path) {
  std::error_code problem;
  auto const size = std::filesystem::file_size(path, problem);
  return problem ? 0 : static_cast<std::int64_t>(size);
}

std::string part_of(std::string const& path, std::int64_t at, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(at);
  std::string part(bytes, '\0');
  file.read(part.data(), static_cast<std::streamsize>(bytes));
  part.resize(static_cast<std::size_t>(file.gcount()));
  return part;
}

}  // namespace

/// What SQLite calls, by the table of functions that it wants.
struct DiskCalls {
  /// An open file: SQLite's part, its path, and the system's file behind it in the same memory.
  struct File {
    sqlite3_file base;
    char const* path;
  };

  static sqlite3_vfs& below() {
    static sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
    return *vfs;
  }
  static FailingDisk& disk() { return FailingDisk::instance(); }
  static sqlite3_file* real(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<File*>(file) + 1);
  }
  static std::string path(sqlite3_file* file) { return reinterpret_cast<File*>(file)->path; }

  static int open(sqlite3_vfs*, char const* name, sqlite3_file* file, int flags, int* flags_out) {
    file->pMethods = nullptr;
    if (disk().dead_) return SQLITE_CANTOPEN;
    int const code = below().xOpen(&below(), name, real(file), flags, flags_out);
    if (code != SQLITE_OK) return code;
    reinterpret_cast<File*>(file)->path = name == nullptr ? "" : name;
    file->pMethods = &methods;
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs*, char const* name, int sync) {
    if (disk().dead_) return SQLITE_IOERR_DELETE;
    disk().unsynced_.erase(name);
    return below().xDelete(&below(), name, sync);
  }
  static int access(sqlite3_vfs*, char const* name, int flags, int* result) {
    return below().xAccess(&below(), name, flags, result);
  }
  static int full_path(sqlite3_vfs*, char const* name, int bytes, char* result) {
    return below().xFullPathname(&below(), name, bytes, result);
  }
  static int randomness(sqlite3_vfs*, int bytes, char* result) {
    for (int k = 0; k < bytes; ++k) result[k] = static_cast<char>(disk().draw_.next());
    return bytes;
  }
  static int pause(sqlite3_vfs*, int microseconds) { return microseconds; }
  static int time(sqlite3_vfs*, double* now) { return *now = 2460000, SQLITE_OK; }
  static int time_ms(sqlite3_vfs*, sqlite3_int64* now) { return *now = 212544000000000, SQLITE_OK; }
  static int last_error(sqlite3_vfs*, int, char*) { return 0; }

  static int close(sqlite3_file* file) {
    int const code = real(file)->pMethods->xClose(real(file));
    file->pMethods = nullptr;
    return code;
  }
  static int read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
    return disk().dead_ ? SQLITE_IOERR_READ : real(file)->pMethods->xRead(real(file), to, bytes, at);
  }
  static int write(sqlite3_file* file, void const* from, int bytes, sqlite3_int64 at) {
    if (disk().dead_) return SQLITE_IOERR_WRITE;
    if (disk().full_ && at + bytes > size_of(path(file))) return SQLITE_FULL;
    auto const fate = disk().next_fate();
    // What is struck is done in part: some sectors from the first on.
    std::size_t const wanted = static_cast<std::size_t>(bytes);
    std::size_t const done = fate ? std::min(wanted, sector * disk().draw_.below(wanted / sector + 1)) : wanted;
    if (done != 0) {
      disk().note_write(path(file), at, {static_cast<char const*>(from), done});
      int const code = real(file)->pMethods->xWrite(real(file), from, static_cast<int>(done), at);
      if (code != SQLITE_OK) return code;
    }
    return fate ? SQLITE_IOERR_WRITE : SQLITE_OK;
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    if (disk().dead_ || disk().next_fate()) return SQLITE_IOERR_TRUNCATE;
    disk().note_truncation(path(file), size);
    return real(file)->pMethods->xTruncate(real(file), size);
  }
  static int sync(sqlite3_file* file, int) {
    if (disk().dead_ || disk().next_fate()) return SQLITE_IOERR_FSYNC;
    disk().note_sync(path(file));
    return SQLITE_OK;
  }
  static int size(sqlite3_file* file, sqlite3_int64* size) { return real(file)->pMethods->xFileSize(real(file), size); }
  static int lock(sqlite3_file* file, int kind) {
    return disk().dead_ ? SQLITE_IOERR_LOCK : real(file)->pMethods->xLock(real(file), kind);
  }
  // The dead hold nothing: what they let go of is let go.
  static int unlock(sqlite3_file* file, int kind) { return real(file)->pMethods->xUnlock(real(file), kind); }
  static int reserved(sqlite3_file* file, int* result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
  }
  static int control(sqlite3_file* file, int what, void* argument) {
    return real(file)->pMethods->xFileControl(real(file), what, argument);
  }
  static int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
  static int properties(sqlite3_file* file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
  static int shared_map(sqlite3_file* file, int region, int bytes, int extend, void volatile** memory) {
    return disk().dead_ ? SQLITE_IOERR_SHMMAP
                        : real(file)->pMethods->xShmMap(real(file), region, bytes, extend, memory);
  }
  static int shared_lock(sqlite3_file* file, int first, int count, int flags) {
    bool const takes = (flags & SQLITE_SHM_LOCK) != 0;
    return disk().dead_ && takes ? SQLITE_IOERR_SHMLOCK
                                 : real(file)->pMethods->xShmLock(real(file), first, count, flags);
  }
  static void shared_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
  static int shared_unmap(sqlite3_file* file, int remove) {
    return real(file)->pMethods->xShmUnmap(real(file), disk().dead_ ? 0 : remove);
  }

  static sqlite3_io_methods const methods;
};

sqlite3_io_methods const DiskCalls::methods{
    2,       close,       read,       write,      truncate,    sync,           size,         lock,    unlock, reserved,
    control, sector_size, properties, shared_map, shared_lock, shared_barrier, shared_unmap, nullptr, nullptr};

FailingDisk& FailingDisk::instance() {
  static FailingDisk disk;
  return disk;
}

FailingDisk::FailingDisk() {
  static sqlite3_vfs vfs{};
  sqlite3_vfs const& below = DiskCalls::below();
  vfs.iVersion = 2;
  vfs.szOsFile = static_cast<int>(sizeof(DiskCalls::File)) + below.szOsFile;
  vfs.mxPathname = below.mxPathname;
  vfs.zName = "failing";
  vfs.xOpen = DiskCalls::open;
  vfs.xDelete = DiskCalls::remove;
  vfs.xAccess = DiskCalls::access;
  vfs.xFullPathname = DiskCalls::full_path;
  vfs.xRandomness = DiskCalls::randomness;
  vfs.xSleep = DiskCalls::pause;
  vfs.xCurrentTime = DiskCalls::time;
  vfs.xCurrentTimeInt64 = DiskCalls::time_ms;
  vfs.xGetLastError = DiskCalls::last_error;
  sqlite3_vfs_register(&vfs, 1);
}

void FailingDisk::begin(std::uint64_t seed, bool forgets) {
  draw_ = chaos::Draw(seed);
  unsynced_.clear();
  armed_.reset();
  struck_ = dead_ = full_ = lies_ = false;
  forgets_ = forgets;
}

void FailingDisk::strike(Fate fate, std::uint64_t calls) {
  armed_ = fate;
  calls_left_ = calls;
}

bool FailingDisk::spare() noexcept {
  armed_.reset();
  struck_ = false;
  return dead_;
}

std::optional<FailingDisk::Fate> FailingDisk::next_fate() {
  if (!armed_ || calls_left_-- != 0) return std::nullopt;
  auto const fate = std::exchange(armed_, std::nullopt);
  struck_ = true;
  if (fate == Fate::kill) dead_ = true;
  return fate;
}

void FailingDisk::note_write(std::string const& path, std::int64_t at, std::string after) {
  if (!forgets_) return;
  std::int64_t const size = size_of(path), end = at + static_cast<std::int64_t>(after.size());
  std::string before = part_of(path, at, after.size());
  unsynced_[path].push_back({.at = at,
                             .size_before = size,
                             .size_after = std::max(size, end),
                             .before = std::move(before),
                             .after = std::move(after)});
}

void FailingDisk::note_truncation(std::string const& path, std::int64_t size) {
  if (!forgets_) return;
  std::int64_t const before = size_of(path);
  if (size >= before) return;
  unsynced_[path].push_back({.at = size,
                             .size_before = before,
                             .size_after = size,
                             .before = part_of(path, size, static_cast<std::size_t>(before - size)),
                             .after = {}});
}

void FailingDisk::note_sync(std::string const& path) {
  if (!lies_) unsynced_.erase(path);
}

void FailingDisk::lose_power() {
  for (auto const& [path, changes] : unsynced_) {
    std::error_code problem;
    if (!std::filesystem::exists(path, problem)) continue;
    std::string content = content_of(path);
    auto const put = [&](std::int64_t at, std::string const& part) {
      if (part.empty()) return;
      if (content.size() < static_cast<std::size_t>(at) + part.size())
        content.resize(static_cast<std::size_t>(at) + part.size());
      std::memcpy(content.data() + at, part.data(), part.size());
    };
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      put(change->at, change->before);
      content.resize(static_cast<std::size_t>(change->size_before));
    }
    for (Change const& change : changes) {
      if (change.after.empty()) {
        if (draw_.one_in(2) && content.size() > static_cast<std::size_t>(change.size_after))
          content.resize(static_cast<std::size_t>(change.size_after));
        continue;
      }
      for (std::size_t first = 0; first < change.after.size(); first += sector)
        if (draw_.one_in(2)) put(change.at + static_cast<std::int64_t>(first), change.after.substr(first, sector));
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  unsynced_.clear();
}

}  // namespace penstock::simulation
