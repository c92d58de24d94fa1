// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/filler.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

constexpr std::size_t memory_bytes = std::size_t{256} << 20;

std::chrono::nanoseconds processor_time() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Computes until the calling thread has had a CPU for that time: a wait for one does not count.
void compute_for(std::chrono::nanoseconds time) noexcept {
  auto const until = processor_time() + time;
  while (processor_time() < until) {
  }
}

}  // namespace

std::shared_ptr<std::vector<std::byte> const> FillMemory::for_tiles_of(std::size_t bytes) {
  if (kept_ == nullptr || kept_->size() < bytes) {
    kept_ = std::make_shared<std::vector<std::byte> const>(std::max(memory_bytes, bytes), std::byte{1});
  }
  return kept_;
}

Filler::Filler(Fill how, std::size_t tile, std::string const& path, FillMemory* memory, std::chrono::nanoseconds busy)
    : how_(how), path_(path), busy_(busy) {
  if (how_ == Fill::memory) {
    FillMemory own;
    memory_ = (memory != nullptr ? *memory : own).for_tiles_of(tile);
    pieces_ = memory_->size() / tile;
  }
  if (how_ != Fill::file) return;
  if (path.empty()) throw Error(ErrorKind::bad_argument, "--fill file reads a file: name one with --file PATH.");
  file_.number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file_.number < 0 || fstat(file_.number, &status) != 0)
    throw Error(ErrorKind::bad_argument, "--file " + path + ": " + std::strerror(errno) + ".");
  pieces_ = static_cast<std::uint64_t>(status.st_size) / tile;
  if (pieces_ == 0)
    throw Error(ErrorKind::bad_argument, "--file " + path + " is shorter than a tile: name a larger one.");
}

std::size_t Filler::fill(std::span<std::byte> to) {
  if (how_ == Fill::busy) compute_for(busy_);
  if (how_ == Fill::none || how_ == Fill::busy || to.empty()) return to.size();
  std::uint64_t const piece = next_.fetch_add(1, std::memory_order_relaxed) % pieces_;
  if (how_ == Fill::memory) {
    std::memcpy(to.data(), memory_->data() + piece * to.size(), to.size());
    return to.size();
  }
  for (std::size_t done = 0; done < to.size();) {
    ssize_t const got =
        pread(file_.number, to.data() + done, to.size() - done, static_cast<off_t>(piece * to.size() + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ErrorKind::system,
                  "--file " + path_ + ": " + (got < 0 ? std::strerror(errno) : "it became shorter") + ".");
    }
    done += static_cast<std::size_t>(got);
  }
  return to.size();
}

}  // namespace penstock::measure
