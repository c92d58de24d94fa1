// SPDX-License-Identifier: Apache-2.0
#include "simulation/fiber.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <cxxabi.h>
#include <link.h>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace penstock::simulation {
namespace {

/// The program's own block of thread variables; libraries that it loads have others.
struct ProgramBlock {
  std::byte* here = nullptr;  ///< Belongs to the one thread that there is.
  std::byte const* first = nullptr;
  std::size_t first_bytes = 0;
  std::size_t bytes = 0;
};
ProgramBlock block;

int look_at_program(dl_phdr_info* program, std::size_t, void*) {
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    auto const& segment = program->dlpi_phdr[i];
    if (segment.p_type != PT_TLS) continue;
    block = {static_cast<std::byte*>(program->dlpi_tls_data),
             reinterpret_cast<std::byte const*>(program->dlpi_addr + segment.p_vaddr), segment.p_filesz,
             segment.p_memsz};
  }
  return 1;  // The first is the program.
}

std::uintptr_t* exceptions_here() noexcept {
  return reinterpret_cast<std::uintptr_t*>(abi::__cxa_get_globals());
}

}  // namespace

void find_thread_variables() noexcept {
  dl_iterate_phdr(look_at_program, nullptr);
  if (block.bytes <= ThreadVariables::most_bytes) return;
  std::fprintf(stderr, "simulation: the program has %zu bytes of thread variables, for which there is no room\n",
               block.bytes);
  std::abort();
}

void ThreadVariables::reset() noexcept {
  of_program.fill(std::byte{0});
  std::memcpy(of_program.data(), block.first, block.first_bytes);
  exceptions = {};
  once_callable = nullptr;
  once_call = nullptr;
  error = 0;
}

void ThreadVariables::save() noexcept {
  std::memcpy(of_program.data(), block.here, block.bytes);
  std::memcpy(exceptions.data(), exceptions_here(), sizeof exceptions);
  once_callable = std::__once_callable;
  once_call = std::__once_call;
  error = errno;
}

void ThreadVariables::restore() const noexcept {
  std::memcpy(block.here, of_program.data(), block.bytes);
  std::memcpy(exceptions_here(), exceptions.data(), sizeof exceptions);
  std::__once_callable = once_callable;
  std::__once_call = once_call;
  errno = error;
}

#if defined(__x86_64__)

// Puts what a function must keep on the old stack and takes it from the new one; the rest is the caller's.
extern "C" void penstock_switch_stack(void** from, void* to) noexcept;
asm(R"(
  .text
  .type penstock_switch_stack, @function
penstock_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size penstock_switch_stack, . - penstock_switch_stack
)");

#endif

void prepare_stack(Fiber& fiber, void (*entry)()) {
  constexpr std::size_t guard = 4096;
  if (fiber.stack == nullptr) {
    void* const memory = mmap(nullptr, guard + Fiber::stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE) != 0) {
      std::fprintf(stderr, "simulation: there is no memory for a stack\n");
      std::abort();
    }
    fiber.stack = static_cast<std::byte*>(memory) + guard;
  }
#if defined(__x86_64__)
  constexpr std::size_t kept_registers = 6;
  auto* const top = reinterpret_cast<void**>(fiber.stack + Fiber::stack_bytes) - 4;
  std::memset(static_cast<void*>(top - 8), 0, 12 * sizeof(void*));
  // Above `entry` lies the return address 0, at which a walk of the stack ends.
  *top = reinterpret_cast<void*>(entry);
  fiber.stack_pointer = top - kept_registers;
#else
  // It lies at the end of the stack that it describes.
  auto* const context = reinterpret_cast<ucontext_t*>(fiber.stack + Fiber::stack_bytes) - 1;
  getcontext(context);
  context->uc_stack.ss_sp = fiber.stack;
  context->uc_stack.ss_size = Fiber::stack_bytes - sizeof(ucontext_t);
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
  fiber.stack_pointer = context;
#endif
}

void switch_fiber(Fiber& from, Fiber& to) noexcept {
  from.variables.save();
  to.variables.restore();
#if defined(__x86_64__)
  penstock_switch_stack(&from.stack_pointer, to.stack_pointer);
#else
  ucontext_t here;
  from.stack_pointer = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to.stack_pointer));
#endif
}

}  // namespace penstock::simulation
