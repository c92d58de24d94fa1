// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "engine/cpu/operation.hpp"
#include "engine/cpu/scheduler.hpp"

namespace penstock::cpu {

/// The threads that do what the scheduler finds ready: `ps-upload`, `ps-download`, `ps-compute-0` and so on,
/// `ps-callback-0` and so on. They sleep while there is nothing to do.
class Engines {
 public:
  /// The threads work for `owner`, as WorksFor has it.
  ///
  /// Throws: Error of kind `system`, if the threads cannot be had; none of them is left then.
  Engines(Scheduler& scheduler, void const* owner, unsigned compute_threads, unsigned callback_threads,
          Observer observer);
  Engines(Engines const&) = delete;
  Engines& operator=(Engines const&) = delete;
  /// Blocks: until each thread has come back from what it is doing.
  ~Engines();

  /// Has the calling thread run the block, if there is one, and all others of its kernel that no other thread claims
  /// before, whatever is more urgent.
  ///
  /// Threads: any.
  void work_on(ReadyWork::Work work);

 private:
  bool compute_all(Operation& kernel, std::uint64_t block, bool yields);
  void start(std::string const& name, Engine engine);
  void join() noexcept;
  void serve(Engine engine, Seat& seat);
  void copy(Operation const& operation);
  void call(Operation const& operation);
  void compute(Operation& kernel, std::uint64_t block, bool yields);
  void lose_for_current_exception();
  void observe(Engine engine, Operation const& operation) const;

  Scheduler& scheduler_;
  void const* const owner_;
  Observer const observer_;
  std::deque<Seat> seats_;  ///< One for each thread; where they are they stay.
  std::vector<std::thread> threads_;
};

}  // namespace penstock::cpu
