// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/ordered_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <unistd.h>

#include "engine/core/host_time.hpp"
#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock::cpu {
namespace {

/// Writes to the first pages of new memory, 1 GiB at most. A GPU has its memory once it is allocated. Here pages would
/// come with the first copy, for which a model leaves no time (docs/decisions/memory.md).
///
/// Blocks: as long as the system takes for the pages, and as long as HostTime::pay.
void touch(std::span<std::byte> memory) noexcept {
  constexpr std::size_t most = std::size_t{1} << 30;
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  HostTime::pay();
  // The system may have pages present that a virtual machine does not have yet, so madvise would not do.
  for (std::size_t at = 0; at < std::min(most, memory.size()); at += page) {
    *const_cast<std::byte volatile*>(&memory[at]) = std::byte{0};
  }
  HostTime::forget();
}

}  // namespace

/// Frees its block when it dies. The ledger counts the block, so it counts nothing.
class OrderedMemory::Lent final : public RegionBackend {
 public:
  explicit Lent(OrderedMemory& owner) noexcept : owner_(owner) {}
  Lent(Lent const&) = delete;
  Lent& operator=(Lent const&) = delete;
  ~Lent() override {
    if (entered_ && owner_.scheduler_.process.is_current()) owner_.take_back(block_);
  }
  void enter(Blocks::iterator block) noexcept {
    block_ = block;
    entered_ = true;
  }

 private:
  OrderedMemory& owner_;
  Blocks::iterator block_{};
  bool entered_ = false;
};

DeviceMemory OrderedMemory::allocate(StreamState const& stream, std::size_t bytes) {
  if (bytes == 0) return {};
  bool fresh = false;
  DeviceMemory memory = allocate_in_order(stream, bytes, fresh);
  if (fresh) make_present(memory.bytes());
  return memory;
}

DeviceMemory OrderedMemory::allocate_in_order(StreamState const& stream, std::size_t bytes, bool& fresh) {
  std::lock_guard const lock(mutex_);
  // A block of more than twice the size is left for what needs it.
  if (auto const again = best(stream, bytes, 2 * bytes); again != freed_.end()) return lend(freed_, again, bytes);
  reclaim_locked();
  Blocks made(1);
  try {
    made.front() = {of_ledger(bytes), &stream};
  } catch (Error const&) {
    auto const again = best(stream, bytes, any_size);
    if (again == freed_.end()) throw;
    return lend(freed_, again, bytes);
  }
  fresh = true;
  return lend(made, made.begin(), bytes);
}

DeviceMemory OrderedMemory::allocate(std::size_t bytes) {
  DeviceMemory memory = [&] {
    std::lock_guard const lock(mutex_);
    reclaim_locked();
    return of_ledger(bytes);
  }();
  make_present(memory.bytes());
  return memory;
}

void OrderedMemory::make_present(std::span<std::byte> memory) noexcept {
  if (scheduler_.keeper() != nullptr) touch(memory);
}

DeviceMemory OrderedMemory::of_ledger(std::size_t bytes) {
  try {
    return ledger_.allocate(bytes);
  } catch (Error const& refused) {
    std::size_t waiting = 0;
    for (Block const& block : freed_) waiting += block.memory.bytes().size();
    if (refused.kind() != ErrorKind::out_of_device_memory || waiting == 0) throw;
    throw Error(ErrorKind::out_of_device_memory,
                std::string(refused.what()) + " Streams have freed " + size_text(waiting) +
                    " more and have not got there: synchronize them first, or allocate in their order.");
  }
}

/// The smallest block that the stream has freed and that has room, of at most `most` bytes; else the end.
OrderedMemory::Blocks::iterator OrderedMemory::best(StreamState const& stream, std::size_t bytes, std::size_t most) {
  auto found = freed_.end();
  for (auto block = freed_.begin(); block != freed_.end(); ++block) {
    std::size_t const size = block->memory.bytes().size();
    if (block->stream != &stream || size < bytes || size > most) continue;
    if (found == freed_.end() || size < found->memory.bytes().size()) found = block;
  }
  return found;
}

DeviceMemory OrderedMemory::lend(Blocks& from, Blocks::iterator block, std::size_t bytes) {
  auto owned = std::make_unique<Lent>(*this);
  lent_.splice(lent_.end(), from, block);
  owned->enter(block);
  return {block->memory.bytes().first(bytes), std::move(owned)};
}

void OrderedMemory::take_back(Blocks::iterator block) noexcept {
  std::lock_guard const lock(mutex_);
  block->place = scheduler_.submitted(*block->stream);
  freed_.splice(freed_.end(), lent_, block);
}

void OrderedMemory::reclaim() noexcept {
  std::lock_guard const lock(mutex_);
  reclaim_locked();
}

void OrderedMemory::reclaim_locked() noexcept {
  freed_.remove_if([this](Block const& block) { return scheduler_.passed(*block.stream, block.place); });
}

void OrderedMemory::forget(StreamState const& stream) noexcept {
  std::lock_guard const lock(mutex_);
  freed_.remove_if([&stream](Block const& block) { return block.stream == &stream; });
}

OrderedMemory::Owned OrderedMemory::owned() const {
  // Both under the mutex: what is freed is in the ledger as well, until it is given back.
  std::lock_guard const lock(mutex_);
  Owned all{.allocations = ledger_.allocations(), .bytes = ledger_.allocated_bytes()};
  for (Block const& block : freed_) {
    all.allocations -= 1;
    all.bytes -= block.memory.bytes().size();
  }
  return all;
}

}  // namespace penstock::cpu
