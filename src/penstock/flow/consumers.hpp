// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <string>
#include <vector>

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "penstock/machine/bound_thread.hpp"
#include "penstock/machine/cpu_set.hpp"

namespace penstock {

/// Threads of penstock's own that work in an arena of oneTBB's, from the constructor to the destructor.
///
/// oneTBB starts its own threads when work comes; if the system refuses one, an exception interrupts that work. These
/// threads exist before, so the arena reserves all of its slots for them and asks for none.
class Consumers {
 public:
  /// Blocks: until each has entered the arena.
  /// Throws: Error, if the system refuses a thread; std::bad_alloc.
  Consumers(oneapi::tbb::task_arena& arena, std::size_t count, CpuSet const& cpus);
  Consumers(Consumers const&) = delete;
  Consumers& operator=(Consumers const&) = delete;
  /// Blocks: until each has left the arena; the arena must have nothing left to do.
  ~Consumers();

  /// Threads that could not be bound, in words.
  std::vector<std::string> remarks() const;

 private:
  /// What keeps one of them in the arena: it waits for a task that is never run.
  struct Post {
    oneapi::tbb::task_group group;
    oneapi::tbb::task_handle held = group.defer([] {});
    std::promise<void> entered;
  };
  void end() noexcept;

  std::deque<Post> posts_;
  std::vector<BoundThread> threads_;
};

}  // namespace penstock
