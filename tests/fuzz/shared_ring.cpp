// SPDX-License-Identifier: Apache-2.0
// Whatever another process writes into the memory of a ring, no side reads or writes beyond a slot, and none waits for
// ever. An input is the beginning of such a memory, or what both sides do and what is written over meanwhile.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "fuzz/harness.hpp"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/ring/ring_memory.hpp"
#include "ingest/ring/ring_reader.hpp"
#include "penstock/error.hpp"

namespace penstock::fuzz {
namespace {

using Piece = RingReader::Piece;

/// Returns where the slot begins that these bytes are the beginning of; ends the program, if they are of none.
std::size_t slot_of(RingMemory const& memory, std::span<std::byte const> bytes) {
  auto const all = memory.all_slots();
  require(bytes.data() >= all.data() && bytes.data() < all.data() + all.size(), "a piece begins in the memory");
  auto const at = static_cast<std::size_t>(bytes.data() - all.data());
  require(at % 4096 == 0 && bytes.size() <= memory.shape().slot_bytes, "a piece lies in a slot");
  return at;
}

/// Tries memory that others made, which must be checked before it is used.
void try_memory(std::string_view input) {
  std::size_t const bytes = std::size_t{512} * take<std::uint8_t>(input);
  Descriptor const file(memfd_create("penstock-fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  require(file.number >= 0 && ftruncate(file.number, static_cast<off_t>(bytes)) == 0, "memory can be made");
  auto const written = input.substr(0, bytes);
  require(pwrite(file.number, written.data(), written.size(), 0) == static_cast<ssize_t>(written.size()),
          "memory can be written");
  require(fcntl(file.number, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0, "its size can be fixed");
  std::unique_ptr<RingMemory> memory;
  try {
    memory = RingMemory::open(file.number);
  } catch (Error const&) {
    return;
  }
  SharedRingShape const& shape = memory->shape();
  auto const all = memory->all_slots();
  auto const* const head = reinterpret_cast<std::byte const*>(&memory->head());
  require(shape.writers != 0 && shape.slots != 0 && shape.slot_bytes != 0, "a ring has slots");
  require(reinterpret_cast<std::byte const*>(&memory->slot(shape.writers - 1, shape.slots - 1) + 1) <= all.data(),
          "what is noted of slots lies in front of them");
  require(all.data() + all.size() == head + bytes, "slots end with the memory");
  auto const last = memory->bytes(shape.writers - 1, shape.slots - 1);
  require(slot_of(*memory, last) + last.size() <= all.size(), "the last slot lies in the memory");
  try {
    SharedRingWriter writer(dup(file.number));
  } catch (Error const&) {
    return;
  }
  require(false, "there is no writer without a reader");
}

/// A reader and writers, each with its mapping, and a third mapping that is written over.
class BrokenRing {
 public:
  explicit BrokenRing(SharedRingShape const& shape)
      : memory_(RingMemory::make(shape)), over_(RingMemory::open(memory_->descriptor())), reader_(*memory_) {}
  BrokenRing(BrokenRing const&) = delete;
  BrokenRing& operator=(BrokenRing const&) = delete;
  ~BrokenRing() {
    for (Piece const& piece : out_) reader_.take_back(piece.bytes);
  }

  /// Spares what tells that the reader is there, and the slots themselves.
  void write_over(std::size_t place, std::uint64_t number) {
    auto* const words = reinterpret_cast<std::atomic<std::uint64_t>*>(&over_->head());
    std::size_t const count =
        static_cast<std::size_t>(over_->all_slots().data() - reinterpret_cast<std::byte*>(words)) / sizeof(*words);
    words[place % count] = number;
  }
  void write_over_slot(std::size_t place, std::uint64_t turn, std::size_t which, std::uint64_t number) {
    RingSlot& slot = over_->slot(place % over_->shape().writers, turn);
    (which % 4 == 0 ? slot.state : which % 4 == 1 ? slot.bytes : which % 4 == 2 ? slot.sequence : slot.tag) = number;
  }
  void write(std::size_t bytes) {
    try {
      if (writer_ == nullptr) writer_ = std::make_unique<SharedRingWriter>(dup(over_->descriptor()));
      auto const slot = writer_->try_claim();
      if (!slot) return;
      require(slot->size() == writer_->shape().slot_bytes, "a writer gets all of a slot");
      // The sanitizer sees what does not lie in the mapping.
      std::ranges::fill(*slot, std::byte{1});
      writer_->commit(bytes % (slot->size() + 1));
    } catch (Error const&) {
      writer_ = nullptr;
    }
  }
  void leave() { writer_ = nullptr; }
  void take(std::size_t at_most) {
    auto const piece = reader_.try_take(at_most);
    if (!piece) return;
    require(piece->bytes.size() <= at_most, "a piece is not longer than asked for");
    std::size_t const slot = slot_of(*memory_, piece->bytes);
    for (Piece const& other : out_) require(slot_of(*memory_, other.bytes) != slot, "no two pieces are one slot");
    out_.push_back(*piece);
  }
  void give_back(std::size_t which) {
    if (out_.empty()) return;
    auto const piece = out_.begin() + static_cast<std::ptrdiff_t>(which % out_.size());
    reader_.take_back(piece->bytes);
    out_.erase(piece);
  }
  void count() const {
    auto const counts = reader_.counts();
    require(counts.out == out_.size(), "slots that are out are counted");
    require(counts.damaged <= memory_->shape().writers, "a place is damaged once");
    static_cast<void>(reader_.ended(1));
  }

 private:
  std::unique_ptr<RingMemory> const memory_, over_;
  RingReader reader_;
  std::unique_ptr<SharedRingWriter> writer_;
  std::vector<Piece> out_;
};

/// A number that the protocol may have in such a place, or any other.
std::uint64_t telling(std::string_view& input) {
  auto const kind = take<std::uint8_t>(input);
  if (kind < 16) return UINT64_MAX - kind;
  return kind < 32 ? take<std::uint64_t>(input) : kind - 32U;
}

}  // namespace

void try_input(std::string_view input) {
  auto const kind = take<std::uint8_t>(input);
  if (kind == 'M') return try_memory(input);
  BrokenRing ring({.slot_bytes = 1U + kind, .slots = 1U + kind % 4, .writers = 1U + kind / 4 % 3});
  while (!input.empty()) {
    auto const step = take<std::uint8_t>(input);
    std::size_t const number = step / 8;
    switch (step % 8) {
      case 0:
        ring.write_over(take<std::uint16_t>(input), telling(input));
        break;
      case 1:
      case 2:
        ring.write_over_slot(number / 4, number, step % 8 == 1 ? 0 : number, telling(input));
        break;
      case 3:
        ring.write(number * 9);
        break;
      case 4:
        number < 2 ? ring.leave() : ring.write(0);
        break;
      case 5:
        ring.take(number == 31 ? 256 : number * 9);
        break;
      case 6:
        ring.give_back(number);
        break;
      default:
        ring.count();
    }
  }
}

}  // namespace penstock::fuzz
