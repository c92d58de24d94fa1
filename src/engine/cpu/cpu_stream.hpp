// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/cpu/engines.hpp"
#include "engine/cpu/fault_hook.hpp"
#include "engine/cpu/handles.hpp"
#include "engine/cpu/memory_ledger.hpp"
#include "engine/cpu/ordered_memory.hpp"
#include "engine/cpu/refusals.hpp"
#include "engine/cpu/scheduler.hpp"
#include "engine/device/work_failure.hpp"
#include "penstock/stream.hpp"

namespace penstock::cpu {

/// The failures to which threads attribute the work that they launch in one stream. Lanes may share the legacy stream.
///
/// Threads: any; each asks for its own.
class Attributions {
 public:
  /// Sets the calling thread's to `failure`; null for none.
  ///
  /// Throws: std::bad_alloc, the first time that a thread comes with a failure.
  void set(WorkFailure* failure) {
    std::lock_guard const lock(mutex_);
    if (Entry* const mine = find()) {
      mine->failure = failure;
    } else if (failure != nullptr) {
      entries_.push_back({std::this_thread::get_id(), failure});
      any_.store(true, std::memory_order_relaxed);
    }
  }
  /// The calling thread's, or null.
  WorkFailure* mine() {
    // Relaxed: a thread that has set one sees its own store.
    if (!any_.load(std::memory_order_relaxed)) return nullptr;
    std::lock_guard const lock(mutex_);
    Entry const* const mine = find();
    return mine != nullptr ? mine->failure : nullptr;
  }

 private:
  struct Entry {
    std::thread::id thread;
    WorkFailure* failure;
  };
  /// A thread that has ended leaves an entry without a failure; the next of its number takes it over.
  Entry* find() noexcept {
    auto const found = std::find_if(entries_.begin(), entries_.end(),
                                    [self = std::this_thread::get_id()](Entry const& e) { return e.thread == self; });
    return found != entries_.end() ? &*found : nullptr;
  }

  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// A stream of a CPU device: checks what it is asked for, and hands it to the scheduler.
class CpuStream final : public StreamBackend {
 public:
  /// Throws: Error, if the device is lost.
  CpuStream(Scheduler& scheduler, Engines& engines, MemoryLedger const& memory, OrderedMemory& ordered,
            FaultPoints faults, Refusals& refusals, StreamType type, int priority);
  CpuStream(CpuStream const&) = delete;
  CpuStream& operator=(CpuStream const&) = delete;
  /// Blocks: until its work has passed.
  ~CpuStream() override;

  DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
  void upload(std::span<std::byte> to, std::span<std::byte const> from) override;
  void download(std::span<std::byte> to, std::span<std::byte const> from) override;
  void copy(std::span<std::byte> to, std::span<std::byte const> from) override;
  DeviceMemory allocate(std::size_t bytes) override;
  void launch(std::uint32_t blocks, CpuKernel kernel, KernelCost const& cost) override;
  void record(EventBackend& event) override;
  void wait(EventBackend& event) override;
  void call(StreamCallback& callback) override;
  void launch_host_function(StreamCallback& callback) override;
  void write(FlagBackend& flag, std::uint64_t number) override;
  void drop_calls() override { scheduler_.drop_calls(state_); }
  bool idle() override;
  void synchronize() override;
  void begin_capture() override;
  std::unique_ptr<CaptureBackend> end_capture() override;
  void launch(CaptureBackend& capture) override;
  void attribute(WorkFailure* failure) override { attributions_.set(failure); }
  void compute_here() override { scheduler_.compute_here(state_); }
  void* native() const noexcept override { return nullptr; }
  bool modelled() const noexcept override { return scheduler_.keeper() != nullptr; }

 private:
  void put_copy(Request request, std::span<std::byte const> host);
  void put(Request request);
  void enqueue(Request request);
  void expect_no_capture(char const* what);
  void put_call(StreamCallback& callback, bool knows_status);

  Scheduler& scheduler_;
  Engines& engines_;
  MemoryLedger const& memory_;
  OrderedMemory& ordered_;
  FaultPoints const faults_;
  Refusals& refusals_;
  bool const launches_block_;  ///< Each waits for its kernel.
  StreamState state_;
  Attributions attributions_;
  std::unique_ptr<CpuCapture> capturing_;  ///< Null unless it captures.
};

}  // namespace penstock::cpu
