// SPDX-License-Identifier: Apache-2.0
#include "ingest/ring/ring_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace penstock {
namespace {

constexpr char kind_of_memory[16] = "penstock ring";
constexpr std::uint32_t version = 1;
constexpr std::size_t page = 4096;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46;
constexpr std::uint32_t most_writers = 256;
constexpr std::uint32_t most_slots = 1 << 20;
constexpr int no_new_size = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

constexpr std::size_t pages_of(std::size_t bytes) noexcept {
  return (bytes + page - 1) / page * page;
}

Error refused_by_system(std::string const& what, std::string const& remedy) {
  return {ErrorKind::system,
          what + ": " + std::error_code(errno, std::generic_category()).message() + ". " + remedy + "."};
}

bool can_be(SharedRingShape const& shape) noexcept {
  return shape.slots > 0 && shape.slots <= most_slots && shape.writers > 0 && shape.writers <= most_writers &&
         shape.slot_bytes > 0 && shape.slot_bytes <= most_bytes / shape.slots / shape.writers;
}

/// Bytes in front of the slots.
std::size_t head_bytes(SharedRingShape const& shape) noexcept {
  return pages_of(sizeof(RingHead) + shape.writers * (sizeof(RingPlace) + shape.slots * sizeof(RingSlot)));
}

std::size_t all_bytes(SharedRingShape const& shape) noexcept {
  return head_bytes(shape) + std::size_t{shape.writers} * shape.slots * pages_of(shape.slot_bytes);
}

}  // namespace

std::unique_ptr<RingMemory> RingMemory::make(SharedRingShape const& shape) {
  if (!can_be(shape)) {
    throw Error(ErrorKind::bad_argument,
                "A shared ring has 1 to " + std::to_string(most_slots) + " slots of 1 byte or more, for 1 to " +
                    std::to_string(most_writers) + " writers, not " + std::to_string(shape.slots) + " slots of " +
                    std::to_string(shape.slot_bytes) + " bytes for " + std::to_string(shape.writers) + " writers.");
  }
  std::unique_ptr<RingMemory> made(new RingMemory(memfd_create("penstock-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  std::size_t const bytes = all_bytes(shape);
  int const file = made->descriptor();
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      fallocate(file, 0, 0, static_cast<off_t>(bytes)) != 0 || fcntl(file, F_ADD_SEALS, no_new_size) != 0) {
    throw refused_by_system("The memory of a shared ring cannot be made, " + std::to_string(bytes) + " bytes",
                            "Free memory, ask for fewer slots, or raise `ulimit -n`");
  }
  made->map(shape);
  RingHead& head = *new (made->mapped_) RingHead{};
  std::memcpy(head.kind, kind_of_memory, sizeof(kind_of_memory));
  head.version = version;
  head.writers = shape.writers;
  head.slots = shape.slots;
  head.slot_bytes = shape.slot_bytes;
  head.memory_bytes = bytes;
  for (std::size_t place = 0; place < shape.writers; ++place) {
    for (std::uint64_t turn = 0; turn < shape.slots; ++turn) {
      made->slot(place, turn).state.store(slot_state(turn, SlotPhase::free), std::memory_order_relaxed);
    }
  }
  if (!made->lock(0)) throw refused_by_system("The memory of a shared ring cannot be locked", "Raise `ulimit -x`");
  return made;
}

std::unique_ptr<RingMemory> RingMemory::open(int descriptor) {
  Error const other(ErrorKind::bad_argument,
                    "This is not the memory of a shared ring, or that of another version of penstock: take it from a "
                    "SharedRing, with the same version in both programs.");
  // Checked before it is reopened: it may be anything, and opening some files has effects.
  struct stat found = {};
  int const seals = fcntl(descriptor, F_GET_SEALS);
  if (fstat(descriptor, &found) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0) throw Error(other);
  // Locks belong to an open file description: one that came from another process by fork or a socket would be that
  // process's.
  std::string const path = "/proc/self/fd/" + std::to_string(descriptor);
  std::unique_ptr<RingMemory> opened(new RingMemory(::open(path.c_str(), O_RDWR | O_CLOEXEC)));
  if (opened->descriptor() < 0) {
    throw refused_by_system("The memory of a shared ring cannot be opened",
                            "It needs /proc, and memory of the same user");
  }
  RingHead head;
  auto const size = static_cast<std::uint64_t>(found.st_size);
  if (size < sizeof(head) || pread(opened->descriptor(), static_cast<void*>(&head), sizeof(head), 0) != sizeof(head) ||
      std::memcmp(head.kind, kind_of_memory, sizeof(kind_of_memory)) != 0 || head.version != version ||
      head.slots > most_slots) {
    throw Error(other);
  }
  SharedRingShape const shape{
      .slot_bytes = head.slot_bytes, .slots = static_cast<std::uint32_t>(head.slots), .writers = head.writers};
  if (!can_be(shape) || head.memory_bytes != size || all_bytes(shape) != size) throw Error(other);
  opened->map(shape);
  return opened;
}

void RingMemory::map(SharedRingShape const& shape) {
  shape_ = shape;
  stride_ = pages_of(shape.slot_bytes);
  std::size_t const bytes = all_bytes(shape);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor(), 0);
  if (mapped == MAP_FAILED) {
    throw refused_by_system("The memory of a shared ring cannot be mapped", "Raise `ulimit -v`, or use fewer slots");
  }
  bytes_ = bytes;
  mapped_ = static_cast<std::byte*>(mapped);
  slots_ = reinterpret_cast<RingSlot*>(mapped_ + sizeof(RingHead) + shape.writers * sizeof(RingPlace));
  slot_memory_ = mapped_ + head_bytes(shape);
}

RingMemory::~RingMemory() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
}

RingPlace& RingMemory::place(std::size_t place) const noexcept {
  return reinterpret_cast<RingPlace*>(mapped_ + sizeof(RingHead))[place];
}

bool RingMemory::lock(std::size_t which) const noexcept {
  return lock_byte(descriptor(), which);
}

void RingMemory::unlock(std::size_t which) const noexcept {
  unlock_byte(descriptor(), which);
}

bool RingMemory::is_locked(std::size_t which) const noexcept {
  // The other side counts as present if the system does not tell.
  return is_byte_locked(descriptor(), which);
}

void ring_bell(std::atomic<std::uint32_t>& bell, std::atomic<std::uint32_t> const& waits) noexcept {
  // Both accesses are sequentially consistent: either this thread sees that the other waits, or the other sees the
  // earlier writes.
  bell.fetch_add(1, std::memory_order_seq_cst);
  if (waits.load(std::memory_order_seq_cst) == 0) return;
  wake_all_on(bell);
}

}  // namespace penstock
