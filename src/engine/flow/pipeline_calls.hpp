// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "penstock/error.hpp"

namespace penstock {

/// The calls that are inside of a pipeline. Its end waits until they are through with it, and they return once it is
/// gone: what the caller destroys next is then no longer in use.
///
/// Threads: any. It outlives the pipeline, in the hands of the calls.
class PipelineCalls {
 public:
  /// One call, from here to the end of the scope.
  class Inside {
   public:
    /// Throws: Error, once the pipeline is at its end.
    explicit Inside(std::shared_ptr<PipelineCalls> calls) : calls_(std::move(calls)) { calls_->enter(*this); }
    Inside(Inside const&) = delete;
    Inside& operator=(Inside const&) = delete;
    ~Inside() { calls_->leave(*this); }

   private:
    friend class PipelineCalls;
    std::shared_ptr<PipelineCalls> const calls_;
    std::thread::id const thread_ = std::this_thread::get_id();
    Inside* next_ = nullptr;
  };

  /// True if the calling thread is in: it must not `await_all`.
  bool inside_here() {
    std::scoped_lock const lock(mutex_);
    for (Inside const* call = inside_; call != nullptr; call = call->next_) {
      if (call->thread_ == std::this_thread::get_id()) return true;
    }
    return false;
  }
  /// From here on none comes in.
  ///
  /// Blocks: until those that are in are through.
  void await_all() {
    std::unique_lock lock(mutex_);
    ending_ = true;
    changed_.wait(lock, [&] { return inside_ == nullptr; });
  }
  /// The pipeline is gone: they may return.
  void let_go() {
    std::scoped_lock const lock(mutex_);
    gone_ = true;
    changed_.notify_all();
  }

 private:
  void enter(Inside& call) {
    std::scoped_lock const lock(mutex_);
    if (ending_) throw Error(ErrorKind::bad_argument, "The pipeline is being destroyed: use it before.");
    call.next_ = std::exchange(inside_, &call);
  }
  void leave(Inside& call) {
    std::unique_lock lock(mutex_);
    Inside** link = &inside_;
    while (*link != &call) link = &(*link)->next_;
    *link = call.next_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !ending_ || gone_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Inside* inside_ = nullptr;  ///< The one that came last.
  bool ending_ = false;
  bool gone_ = false;
};

}  // namespace penstock
