// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/preload/counted_calls.hpp"

#include <atomic>

// A call that is counted goes through one of the trampolines below. A trampoline loads the address of its record and
// jumps to the record's `handler`, which reads the stream, counts, and jumps to the record's `target`. They change only
// registers that a call may change and that hold no argument: rax, r10 and r11.
#ifndef __x86_64__
#error "The trampolines that count calls are for x86-64 only."
#endif

namespace penstock::preload {
namespace {

/// The data of a trampoline. The code below depends on this layout.
struct Trampoline {
  void* target;
  void (*handler)();
  TurnCounts::Count* counts;  ///< An array, indexed by how the stream is named.
  void* none;
};
static_assert(sizeof(Trampoline) == 32 && sizeof(TurnCounts::Count) == 8);

constexpr unsigned most_trampolines = 512;

}  // namespace

extern "C" {
// The code uses these names. They are not visible outside the library.
__attribute__((visibility("hidden"))) Trampoline penstock_records[most_trampolines];
__attribute__((visibility("hidden"))) extern char const penstock_trampolines[];
#define PENSTOCK_HANDLER(place) __attribute__((visibility("hidden"))) void penstock_count_##place();
PENSTOCK_HANDLER(everywhere)
PENSTOCK_HANDLER(argument_0)
PENSTOCK_HANDLER(argument_1)
PENSTOCK_HANDLER(argument_2)
PENSTOCK_HANDLER(argument_3)
PENSTOCK_HANDLER(argument_4)
PENSTOCK_HANDLER(argument_5)
PENSTOCK_HANDLER(argument_8)
PENSTOCK_HANDLER(in_config)
#undef PENSTOCK_HANDLER
}

// The code of a trampoline takes 32 bytes, as its record does.
asm(R"(
    .text
    .balign 32
penstock_trampolines:
    .set record, 0
    .rept 512
    .balign 32
    endbr64
    leaq penstock_records + record(%rip), %r11
    jmp *8(%r11)
    .set record, record + 32
    .endr

    .macro penstock_handler name, load
penstock_count_\name:
    endbr64
    \load
    cmpq $2, %rax
    jbe 1f
    movl $3, %eax
1:  movq 16(%r11), %r10
    lock incq (%r10, %rax, 8)
    jmp *(%r11)
    .endm
    penstock_handler everywhere, "xorl %eax, %eax"
    penstock_handler argument_0, "movq %rdi, %rax"
    penstock_handler argument_1, "movq %rsi, %rax"
    penstock_handler argument_2, "movq %rdx, %rax"
    penstock_handler argument_3, "movq %rcx, %rax"
    penstock_handler argument_4, "movq %r8, %rax"
    penstock_handler argument_5, "movq %r9, %rax"
    penstock_handler argument_8, "movq 24(%rsp), %rax"
    penstock_handler in_config, "movq 32(%rdi), %rax"
)");

namespace {

void (*handler_of(StreamPlace stream))() {
  switch (stream) {
    case StreamPlace::nowhere:
      return nullptr;
    case StreamPlace::everywhere:
      return penstock_count_everywhere;
    case StreamPlace::argument_0:
      return penstock_count_argument_0;
    case StreamPlace::argument_1:
      return penstock_count_argument_1;
    case StreamPlace::argument_2:
      return penstock_count_argument_2;
    case StreamPlace::argument_3:
      return penstock_count_argument_3;
    case StreamPlace::argument_4:
      return penstock_count_argument_4;
    case StreamPlace::argument_5:
      return penstock_count_argument_5;
    case StreamPlace::argument_8:
      return penstock_count_argument_8;
    case StreamPlace::in_config:
      return penstock_count_in_config;
  }
  return nullptr;
}

std::atomic_flag busy = ATOMIC_FLAG_INIT;
unsigned used = 0;

}  // namespace

void* counted(void* target, StreamPlace stream, Variant variant, TurnCounts& counts) {
  auto* const handler = handler_of(stream);
  if (handler == nullptr) return target;
  while (busy.test_and_set(std::memory_order_acquire)) {
  }
  TurnCounts::Count* const where = counts.calls.data()[static_cast<unsigned>(variant)].data();
  unsigned number = 0;
  while (number < used && (penstock_records[number].target != target || penstock_records[number].counts != where))
    ++number;
  bool const room = number < most_trampolines;
  if (room && number == used) {
    penstock_records[number] = {target, handler, where, nullptr};
    ++used;
  }
  busy.clear(std::memory_order_release);
  if (!room) {
    counts.not_counted.fetch_add(1, std::memory_order_relaxed);
    return target;
  }
  return const_cast<char*>(penstock_trampolines) + std::size_t{number} * sizeof(Trampoline);
}

}  // namespace penstock::preload
