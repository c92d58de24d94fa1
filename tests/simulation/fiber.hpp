// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace penstock::simulation {

/// Variables that glibc, libstdc++ and the program keep for each thread, beside a stack: the program's
/// `thread_local` ones, exceptions that are being handled, what std::call_once is about to call, errno.
///
/// All fibers run on one thread of the system, so these variables have one place, and a switch copies them. Their
/// addresses must not be given to other fibers.
struct ThreadVariables {
  static constexpr std::size_t most_bytes = 256;
  std::array<std::byte, most_bytes> of_program;
  std::array<std::uintptr_t, 2> exceptions;
  void* once_callable;
  void (*once_call)();
  int error;

  /// Sets them as a new thread finds them.
  void reset() noexcept;
  void save() noexcept;
  void restore() const noexcept;
};

/// Finds the program's thread variables; before the first of the functions above.
void find_thread_variables() noexcept;

/// A simulated thread: a stack, and what the scheduler knows of it.
struct Fiber {
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  static constexpr std::uint64_t all_cpus = 0xf;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  enum class State : std::uint8_t { runnable, stopped, waiting, ended };
  struct AtEnd {
    void (*destroy)(void*);
    void* object;
    AtEnd* next;
  };

  std::byte* stack = nullptr;  ///< Its lowest byte; it stays with the place in the table, for the fibers to come.
  void* stack_pointer = nullptr;
  void* (*body)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  AtEnd* at_end = nullptr;  ///< Destructors of its thread_local variables, the last first.
  std::array<char, 16> name{};
  std::uint32_t number = 0;  ///< Counts in the order of creation, from 1 on.
  std::uint32_t place = 0;   ///< Index among the runnable, or those that wait.
  State state = State::ended;
  bool detached = false;
  bool joined = false;
  bool timed_out = false;
  char const* waits_for = "";      ///< A text, while it waits.
  void const* key = nullptr;       ///< Key by which another fiber wakes it, while it waits.
  std::uint64_t deadline = never;  ///< Nanoseconds of the simulation, while it waits.
  std::uint64_t cpus = all_cpus;   ///< A bit for each that it may run on.
  std::uint64_t rank = 0;
  std::uint64_t stopped_until = 0;
  ThreadVariables variables;
};

/// Gives the fiber a stack on which its first switch calls `entry`, which never returns.
void prepare_stack(Fiber& fiber, void (*entry)());
/// Goes on with the other fiber, and returns when another one goes on with this.
void switch_fiber(Fiber& from, Fiber& to) noexcept;

}  // namespace penstock::simulation
