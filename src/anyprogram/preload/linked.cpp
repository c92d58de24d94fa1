// SPDX-License-Identifier: Apache-2.0
// The symbols that the dynamic linker finds in this library before those of the system's libraries: dlsym, and, for
// programs that are linked with libcuda, the driver's entry points that have two variants.
#include <atomic>

#include <dlfcn.h>

#include "anyprogram/preload/entry_points.hpp"
#include "anyprogram/preload/look_ups.hpp"

namespace penstock::preload {
namespace {

/// Replaces an entry point that this driver does not have. Returns CUDA_ERROR_NOT_FOUND.
int not_found() {
  return 500;
}

/// An entry point that programs are linked with. The code below jumps to `target`, which is penstock_resolve at first.
struct Linked {
  std::atomic<void*> target;
  char const* name;
};

}  // namespace

extern "C" {
__attribute__((visibility("hidden"))) void penstock_resolve();
__attribute__((visibility("hidden"))) extern char const penstock_exports[];
__attribute__((visibility("hidden"))) extern char const penstock_exports_end[];
/// Returns: true if `found` is the result of dlsym; false if `found` is the system's dlsym, which is to be called.
__attribute__((visibility("hidden"))) bool penstock_answers(void* handle, char const* name, void** found);
__attribute__((visibility("hidden"))) void* penstock_resolved(Linked* linked);

// Besides the entry points that have two variants: cuInit, which shows that a program uses the driver, and the
// functions by which it looks up others.
#define PENSTOCK_EXPORTS(ENTRY, BOTH) \
  PENSTOCK_ENTRY_POINTS(BOTH) ENTRY(cuInit) ENTRY(cuGetProcAddress) ENTRY(cuGetProcAddress_v2)
#define ENTRY(name) {{reinterpret_cast<void*>(&penstock_resolve)}, #name},
#define BOTH(name, suffix, place) ENTRY(name) ENTRY(name##suffix)
__attribute__((visibility("hidden"))) Linked penstock_linked[] = {PENSTOCK_EXPORTS(ENTRY, BOTH)};
#undef ENTRY
}

// One stub for each row of the table, in its order. A row has 16 bytes.
static_assert(sizeof(Linked) == 16);
#define ENTRY(name)                                      \
  ".globl " #name "\n.type " #name ", @function\n" #name \
  ":\nendbr64\nleaq penstock_linked + row(%rip), %r11\njmp *(%r11)\n.set row, row + 16\n"
asm(".text\npenstock_exports:\n.set row, 0\n" PENSTOCK_EXPORTS(ENTRY, BOTH) "penstock_exports_end:\n");
#undef ENTRY

// The first call of an entry point looks its target up, and saves the registers with arguments meanwhile. rax is not
// saved: none of these functions is variadic.
asm(R"(
    .text
penstock_resolve:
    endbr64
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    subq $8, %rsp
    movq %r11, %rdi
    call penstock_resolved
    addq $8, %rsp
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    jmp *%rax

    .globl dlsym
    .type dlsym, @function
dlsym:
    endbr64
    pushq %rdi
    pushq %rsi
    subq $24, %rsp
    leaq 8(%rsp), %rdx
    call penstock_answers
    movl %eax, %r11d
    movq 8(%rsp), %rax
    addq $24, %rsp
    popq %rsi
    popq %rdi
    testb %r11b, %r11b
    je 1f
    ret
1:  jmp *%rax
)");

// The system's dlsym is reached by a jump, so that it sees the address of the original caller: RTLD_NEXT depends on it.
bool penstock_answers(void* handle, char const* name, void** found) {
  bool const ours = is_name_of_driver(name);
  *found = ours ? entry_point(handle, name) : reinterpret_cast<void*>(real_look());
  return ours;
}

void* penstock_resolved(Linked* linked) {
  void* target = entry_point(RTLD_NEXT, linked->name);
  // RTLD_NEXT does not find libraries that were loaded with RTLD_LOCAL.
  if (target == nullptr) {
    if (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD))
      target = entry_point(driver, linked->name);
  }
  if (target == nullptr) target = reinterpret_cast<void*>(&not_found);
  linked->target.store(target, std::memory_order_release);
  return target;
}

bool is_export_of_ours(void const* address) {
  return address >= penstock_exports && address < penstock_exports_end;
}

}  // namespace penstock::preload
