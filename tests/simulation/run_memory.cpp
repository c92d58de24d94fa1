// SPDX-License-Identifier: Apache-2.0
#include "simulation/run_memory.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <link.h>
#include <sys/mman.h>

namespace penstock::simulation {
namespace {

/// Address where no system puts anything by itself.
constexpr std::uintptr_t heap_address = 0x2000'0000'0000;
constexpr std::size_t heap_bytes = std::size_t{1} << 30;
/// Sizes are rounded up to powers of two.
constexpr std::size_t size_classes = 31;
constexpr std::size_t smallest_bits = 4;

/// Stands before each block that `new` returns.
struct alignas(16) Header {
  std::uint32_t size_class;
  std::uint32_t before;  ///< Bytes from the beginning of the block to what was returned.
};
struct Free {
  Free* next;
};

struct Heap {
  std::byte* end = nullptr;  ///< Memory behind it was never used in this run.
  std::array<Free*, size_classes> free{};
  bool in_use = false;
};
Heap heap;

/// The program's variables that can be written, and a copy of them.
struct Variables {
  std::byte* first = nullptr;
  std::size_t bytes = 0;
  std::byte* copy = nullptr;
};
Variables variables;

[[noreturn]] void refuse(char const* why) noexcept {
  std::fprintf(stderr, "simulation: %s\n", why);
  std::_Exit(2);
}

int look_for_variables(dl_phdr_info* program, std::size_t, void*) {
  std::uintptr_t read_only_end = 0;
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    auto const& segment = program->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_RELRO) read_only_end = program->dlpi_addr + segment.p_vaddr + segment.p_memsz;
  }
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    auto const& segment = program->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    std::uintptr_t const begin = program->dlpi_addr + segment.p_vaddr;
    std::uintptr_t const end = begin + segment.p_memsz;
    std::uintptr_t const first = read_only_end > begin && read_only_end < end ? read_only_end : begin;
    if (variables.first != nullptr) refuse("the program has more than one segment of variables");
    variables.first = reinterpret_cast<std::byte*>(first);
    variables.bytes = end - first;
  }
  return 1;  // The first is the program.
}

bool of_run(void const* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) - heap_address < heap_bytes;
}

void* place(std::byte* block, std::uint32_t size_class, std::size_t alignment) noexcept {
  auto const begin = reinterpret_cast<std::uintptr_t>(block);
  std::uintptr_t const at = (begin + sizeof(Header) + alignment - 1) / alignment * alignment;
  *(reinterpret_cast<Header*>(at) - 1) = {size_class, static_cast<std::uint32_t>(at - begin)};
  return reinterpret_cast<void*>(at);
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (!heap.in_use) {
    return alignment <= alignof(Header)
               ? std::malloc(bytes)
               : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  std::size_t const room = bytes + sizeof(Header) + (alignment > alignof(Header) ? alignment : 0);
  auto const bits = static_cast<std::size_t>(std::bit_width(room - 1));
  std::size_t const size_class = bits < smallest_bits ? 0 : bits - smallest_bits;
  if (size_class >= size_classes) return nullptr;
  if (Free* const found = heap.free[size_class]) {
    heap.free[size_class] = found->next;
    return place(reinterpret_cast<std::byte*>(found), static_cast<std::uint32_t>(size_class), alignment);
  }
  std::size_t const taken = std::size_t{1} << (size_class + smallest_bits);
  if (reinterpret_cast<std::uintptr_t>(heap.end) + taken > heap_address + heap_bytes) return nullptr;
  std::byte* const block = heap.end;
  heap.end += taken;
  return place(block, static_cast<std::uint32_t>(size_class), alignment);
}

void release(void* at) noexcept {
  if (!of_run(at)) return std::free(at);
  if (!heap.in_use) return;  // Its run is over.
  Header const header = *(static_cast<Header*>(at) - 1);
  auto* const block = reinterpret_cast<Free*>(static_cast<std::byte*>(at) - header.before);
  block->next = heap.free[header.size_class];
  heap.free[header.size_class] = block;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const at = allocate(bytes, alignment)) return at;
  throw std::bad_alloc();
}

}  // namespace

void prepare_memory() noexcept {
  void* const where = mmap(reinterpret_cast<void*>(heap_address), heap_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (where != reinterpret_cast<void*>(heap_address)) refuse("the addresses of the heap of runs are taken");
  dl_iterate_phdr(look_for_variables, nullptr);
  variables.copy = static_cast<std::byte*>(std::malloc(variables.bytes));
  if (variables.copy == nullptr) refuse("there is no memory for a copy of the program's variables");
  std::memcpy(variables.copy, variables.first, variables.bytes);
}

void reset_memory() noexcept {
  std::memcpy(variables.first, variables.copy, variables.bytes);
  heap = {.end = reinterpret_cast<std::byte*>(heap_address)};
}

void use_heap_of_runs(bool in_use) noexcept {
  heap.in_use = in_use;
}

}  // namespace penstock::simulation

void* operator new(std::size_t bytes) {
  return penstock::simulation::allocate_or_throw(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return penstock::simulation::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return penstock::simulation::allocate(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return penstock::simulation::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* at) noexcept {
  penstock::simulation::release(at);
}
void operator delete(void* at, std::size_t) noexcept {
  penstock::simulation::release(at);
}
void operator delete(void* at, std::align_val_t) noexcept {
  penstock::simulation::release(at);
}
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  penstock::simulation::release(at);
}
