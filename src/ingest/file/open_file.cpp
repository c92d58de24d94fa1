// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/open_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "ingest/file/open_folder.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

/// Size of a read of a file of unknown size. Files in /proc/sys refuse 4 MiB for lack of memory.
constexpr std::size_t read_bytes = std::size_t{256} << 10;

/// Alignment for O_DIRECT if the system does not tell it: at least that of any disk's block or any page.
constexpr std::size_t usual_alignment = 4096;

/// Maximum time for filling one piece of memory from a stream that always has more.
constexpr std::chrono::milliseconds longest_gathering{5};

using WallClock = std::chrono::steady_clock;

/// True if there is more to read by `linger` after `first`, and the wait for it is not too long yet.
bool has_more(int descriptor, WallClock::time_point first, std::chrono::microseconds linger) {
  WallClock::duration const waited = WallClock::now() - first;
  if (waited >= std::max<WallClock::duration>(linger, longest_gathering)) return false;
  auto const left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::max(WallClock::duration(0), linger - waited));
  timespec const at_most{.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
  pollfd waited_for{descriptor, POLLIN, 0};
  return ppoll(&waited_for, 1, &at_most, nullptr) > 0;
}

/// Requests a larger pipe: with the usual 64 KiB, reader and writer wake each other for every 64 KiB. It is unchanged
/// if it is that large already, or if the user's pipes may not be so large.
constexpr int pipe_bytes = 1 << 20;
void widen_if_pipe(int descriptor) {
  int const now = fcntl(descriptor, F_GETPIPE_SZ);
  if (now > 0 && now < pipe_bytes) fcntl(descriptor, F_SETPIPE_SZ, pipe_bytes);
}

[[noreturn]] void fail(int number) {
  throw FileProblem(system_problem(number));
}

}  // namespace

std::shared_ptr<OpenFile> OpenFile::of(InputFile const& input) {
  if (input.descriptor) return std::make_shared<OpenFile>(*input.descriptor);
  if (input.folder == nullptr) return std::make_shared<OpenFile>(input.path);
  return std::make_shared<OpenFile>(*input.folder, input.path.substr(input.path.rfind('/') + 1));
}

OpenFile::OpenFile(std::string const& path) {
  if (path == "-") {
    descriptor_ = STDIN_FILENO;
    owned_ = false;
    if (int const flags = fcntl(descriptor_, F_GETFL); flags < 0 || (flags & O_ACCMODE) == O_WRONLY) {
      throw FileProblem("standard input is not open for reading; give it something to read, or name files");
    }
    widen_if_pipe(descriptor_);
    return;
  }
  if (path.empty()) throw FileProblem("an empty path names no file");
  // Non-blocking, because a pipe without a writer would keep this thread here, where no stop could reach it;
  // read_some waits instead.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(errno);
  try {
    look();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

OpenFile::OpenFile(OpenFolder const& in, std::string const& name)
    : descriptor_(openat(in.descriptor(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)) {
  if (descriptor_ < 0) fail(errno);
  try {
    look();
    if (!S_ISREG(before_.st_mode)) throw FileProblem("it was replaced by something that is no regular file");
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

OpenFile::OpenFile(int descriptor) : descriptor_(descriptor), owned_(false) {
  look();
}

void OpenFile::look() {
  if (fstat(descriptor_, &before_) != 0) fail(errno);
  pieces_ = S_ISREG(before_.st_mode) && before_.st_size > 0;
  // A smaller file is read ahead in whole anyway.
  if (pieces_ && size() > read_bytes) posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  if (S_ISFIFO(before_.st_mode)) widen_if_pipe(descriptor_);
}

OpenFile::~OpenFile() {
  if (owned_) close(descriptor_);
  if (direct_.descriptor >= 0) close(direct_.descriptor);
}

std::optional<DirectAccess> OpenFile::direct() {
  std::call_once(direct_once_, [this] { open_direct(); });
  if (direct_error_.load(std::memory_order_relaxed) != 0) return std::nullopt;
  return direct_;
}

std::string OpenFile::direct_refusal() const {
  return system_problem(direct_error_.load(std::memory_order_relaxed));
}

void OpenFile::open_direct() noexcept {
  // Uses the descriptor, because another file may have taken the path.
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor_);
  direct_.alignment = usual_alignment;
  int const opened = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (opened < 0) {
    refuse_direct(errno);
    return;
  }
  direct_.descriptor = opened;
#ifdef STATX_DIOALIGN
  struct statx status {};
  if (statx(opened, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 && (status.stx_mask & STATX_DIOALIGN) != 0) {
    direct_.alignment = std::max(status.stx_dio_mem_align, status.stx_dio_offset_align);
    if (direct_.alignment == 0) refuse_direct(EINVAL);
  }
#endif
}

std::size_t OpenFile::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  std::size_t filled = 0;
  while (filled < to.size()) {
    ssize_t const got = pread(descriptor_, to.data() + filled, to.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) {
      // Files in /sys claim a page, whatever they hold: if the size is unchanged, this is all there is.
      expect_unchanged();
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::size_t OpenFile::look_at(std::uint64_t offset, std::span<std::byte> to) const {
  constexpr off_t ahead = off_t{16} << 20;
  iovec const room{to.data(), to.size()};
  ssize_t const got = preadv2(descriptor_, &room, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  if (got == static_cast<ssize_t>(to.size())) return to.size();
  if (got >= 0 || errno == EAGAIN) posix_fadvise(descriptor_, static_cast<off_t>(offset), ahead, POSIX_FADV_WILLNEED);
  return read_at(offset, to);
}

std::size_t OpenFile::read_some(std::span<std::byte> to, std::stop_token const& stop) const {
  while (!stop.stop_requested()) {
    // A tenth of a second at most, to check `stop`: a read of a terminal or a pipe may block without an end. A pipe
    // that no writer has opened yet reads as ended, but poll is silent about it until one came.
    pollfd waited{descriptor_, POLLIN, 0};
    int const ready = poll(&waited, 1, 100);
    if (ready == 0) continue;
    ssize_t const got = ready > 0 ? read(descriptor_, to.data(), std::min(to.size(), read_bytes)) : -1;
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EAGAIN && errno != EINTR) fail(errno);
  }
  return 0;
}

OpenFile::Gathered OpenFile::gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                                    std::stop_token const& stop) {
  Gathered got;
  WallClock::time_point first;
  while (got.bytes < to.size()) {
    if (linger && got.bytes > 0 && !has_more(descriptor_, first, *linger)) return got;
    std::size_t const more = read_some(to.subspan(got.bytes), stop);
    if (more == 0) {
      got.ended = true;
      break;
    }
    if (got.bytes == 0) first = WallClock::now();
    got.bytes += more;
  }
  return got;
}

void OpenFile::expect_unchanged() const {
  if (!S_ISREG(before_.st_mode)) return;
  struct stat now {};
  if (fstat(descriptor_, &now) != 0) fail(errno);
  auto const same_time = [](timespec a, timespec b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; };
  char const* const remedy = " while it was being read; read it again when no program writes to it";
  if (now.st_size < before_.st_size) throw FileProblem(std::string("it shrank") + remedy, FileChange::shrank);
  if (now.st_size > before_.st_size) throw FileProblem(std::string("it grew") + remedy, FileChange::grew);
  // A writer may reset the time of the last write, but not that of the last status change. Adding or removing a link
  // changes that as well, and hides whether anything else changed it, too.
  bool const relinked = now.st_nlink != before_.st_nlink;
  if (!same_time(now.st_mtim, before_.st_mtim) || (!relinked && !same_time(now.st_ctim, before_.st_ctim))) {
    throw FileProblem(std::string("it changed") + remedy, FileChange::changed);
  }
  if (relinked) {
    throw FileProblem(
        "it was linked or removed while it was being read, which may hide a change; read it again, if it is still "
        "there",
        FileChange::relinked);
  }
}

bool OpenFile::grew() const {
  struct stat now {};
  if (fstat(descriptor_, &now) != 0) fail(errno);
  return S_ISREG(before_.st_mode) && now.st_size > before_.st_size;
}

/// Reads as much as there is, so that a concurrent change is noticed and causes no failure.
OpenFile::Excerpt OpenFile::excerpt_at(std::uint64_t offset) const {
  Excerpt excerpt{offset};
  ssize_t const got = pread(descriptor_, excerpt.bytes.data(), excerpt.bytes.size(), static_cast<off_t>(offset));
  excerpt.size = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  excerpt.size = static_cast<std::size_t>(std::min<std::uint64_t>(excerpt.size, size() - offset));
  std::fill(excerpt.bytes.begin() + static_cast<std::ptrdiff_t>(excerpt.size), excerpt.bytes.end(), std::byte{0});
  return excerpt;
}

void OpenFile::remember_ends() {
  ends_ = {excerpt_at(0), excerpt_at(size() - std::min<std::uint64_t>(size(), Excerpt{}.bytes.size()))};
}

void OpenFile::expect_only_grown() const {
  if (!S_ISREG(before_.st_mode)) return;
  std::byte more{};
  bool const has_more = pieces_ && pread(descriptor_, &more, 1, before_.st_size) > 0;
  if (!grew()) {
    try {
      expect_unchanged();
    } catch (FileProblem const&) {
      if (!grew()) throw;
      return expect_only_grown();  // It did now.
    }
    if (!has_more) return;
    throw FileProblem("it holds more than its size says, and that was not read; read it through a pipe, `cat FILE |`");
  }
  for (Excerpt const& end : ends_) {
    if (end.size == 0 || excerpt_at(end.offset) == end) continue;
    throw FileProblem("it was written anew while it was being read; read it again when no program writes to it",
                      FileChange::changed);
  }
}

std::string name_in_line(std::string_view name) {
  std::string text;
  for (char const byte : name) {
    if (byte == '\n' || byte == '\\') text += '\\';
    text += byte == '\n' ? 'n' : byte;
  }
  return text;
}

}  // namespace penstock
