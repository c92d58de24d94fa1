// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include "penstock/machine/cpu_set.hpp"
#include "penstock/machine/lent_thread.hpp"

namespace penstock {

/// Names and binds the threads that oneTBB lends to the graph, and gives them back as they were.
class LentThreads final : public oneapi::tbb::task_scheduler_observer {
 public:
  LentThreads(oneapi::tbb::task_arena& arena, CpuSet cpus) : task_scheduler_observer(arena), cpus_(std::move(cpus)) {
    observe(true);
  }
  /// Those that are still in the arena, looking for work, are given back from here: oneTBB says no more when they
  /// leave.
  ~LentThreads() override {
    observe(false);
    std::scoped_lock const lock(mutex_);  // Nobody holds it any more; a sanitizer sees by it that they had it before.
    lent_.clear();
  }
  void on_scheduler_entry(bool is_worker) override {
    if (!is_worker) return;
    try {
      std::scoped_lock const lock(mutex_);
      lent_.try_emplace(std::this_thread::get_id(), "ps-graph", cpus_);
    } catch (std::bad_alloc const&) {  // It works all the same, and oneTBB expects no exception.
    }
  }
  void on_scheduler_exit(bool is_worker) override {
    if (!is_worker) return;
    std::scoped_lock const lock(mutex_);
    lent_.erase(std::this_thread::get_id());
  }

 private:
  CpuSet const cpus_;
  std::mutex mutex_;
  std::map<std::thread::id, LentThread> lent_;
};

}  // namespace penstock
