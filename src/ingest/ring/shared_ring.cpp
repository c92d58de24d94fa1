// SPDX-License-Identifier: Apache-2.0
#include "penstock/ingest/shared_ring.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "ingest/ring/ring_memory.hpp"
#include "ingest/ring/ring_reader.hpp"
#include "ingest/ring/shared_ring_parts.hpp"

namespace penstock {
namespace {

/// Target of the link at `path`; empty if there is none.
std::string target_of(std::string const& path) {
  std::array<char, 128> target;
  ssize_t const length = readlink(path.c_str(), target.data(), target.size());
  return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

/// Removes decimal digits from the front of `text`; false if there are none.
bool take_digits(std::string_view& text) {
  std::size_t const digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits != 0;
}

/// Removes `word` from the front of `text`; false if it is not there.
bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// True for "/proc/PROCESS/fd/NUMBER", the target that a RingLink has.
bool is_of_a_ring(std::string_view target) {
  return take_word(target, "/proc/") && take_digits(target) && take_word(target, "/fd/") && take_digits(target) &&
         target.empty();
}

/// Removes the link of a reader that has ended.
///
/// Throws: Error of kind bad_argument, if it is anything else.
void remove_dead_link(std::string const& path) {
  if (!is_of_a_ring(target_of(path))) {
    throw Error(ErrorKind::bad_argument,
                "There is something else at " + path +
                    ", so a shared ring cannot be found there: remove it, or use another path.");
  }
  if (Descriptor const there(open(path.c_str(), O_PATH | O_CLOEXEC));
      there.number >= 0 &&
      target_of("/proc/self/fd/" + std::to_string(there.number)).starts_with("/memfd:penstock-ring")) {
    throw Error(ErrorKind::bad_argument,
                "The reader of the shared ring at " + path + " is still there: end it, or use another path.");
  }
  unlink(path.c_str());
}

}  // namespace

/// A name of the memory, for as long as this lives.
RingLink::RingLink(std::string path, int descriptor)
    : path_(std::move(path)), target_("/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor)) {
  if (symlink(target_.c_str(), path_.c_str()) == 0) return;
  if (errno == EEXIST) {
    remove_dead_link(path_);
    if (symlink(target_.c_str(), path_.c_str()) == 0) return;
  }
  throw Error(ErrorKind::system, "The link " + path_ + " to a shared ring cannot be made: " +
                                     std::error_code(errno, std::generic_category()).message() +
                                     ". Name a path in a folder that can be written to.");
}

RingLink::~RingLink() {
  if (target_of(path_) == target_) unlink(path_.c_str());
}

SharedRing::SharedRing(SharedRingShape const& shape) : parts_(std::make_unique<Parts>(shape)) {}

SharedRing::SharedRing(std::string path, SharedRingShape const& shape) : SharedRing(shape) {
  parts_->link.emplace(std::move(path), descriptor());
}

SharedRing::~SharedRing() {
  if (left_to_parent(parts_)) return;
  RingMemory const& memory = *parts_->memory;
  parts_->link.reset();
  memory.head().closed.store(1, std::memory_order_seq_cst);
  for (std::size_t place = 0; place < memory.shape().writers; ++place) {
    ring_bell(memory.place(place).frees, memory.place(place).writer_waits);
  }
}

SharedRingShape const& SharedRing::shape() const noexcept {
  return parts_->memory->shape();
}

std::span<std::byte> SharedRing::memory() const noexcept {
  return parts_->memory->all_slots();
}

int SharedRing::descriptor() const noexcept {
  return parts_->memory->descriptor();
}

SharedRingCounts SharedRing::counts() const {
  return parts_->reader.counts();
}

}  // namespace penstock
