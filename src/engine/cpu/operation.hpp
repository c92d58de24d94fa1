// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/cpu/onward.hpp"
#include "engine/device/work_failure.hpp"
#include "penstock/clock.hpp"
#include "penstock/stream.hpp"

namespace penstock::cpu {

/// The threads that do the work: one thread for uploads and copies from device to device, one for downloads, several
/// for kernels, several for callbacks.
enum class Engine : std::uint8_t { upload, download, compute, callback };
inline constexpr std::size_t engine_count = 4;
constexpr std::size_t index_of(Engine engine) noexcept {
  return static_cast<std::size_t>(engine);
}

/// The urgencies that streams may have; lower numbers run first, as in CUDA.
inline constexpr int least_priority = 0;
inline constexpr int greatest_priority = -5;

/// Relation of a stream to the others: blocking streams take turns with the legacy stream, non-blocking ones do not.
enum class StreamType : std::uint8_t { legacy, blocking, non_blocking };

struct Operation;

/// A stream as the scheduler sees it; the scheduler's mutex guards all that is not const.
struct StreamState {
  StreamState(StreamType its_type, int urgency) : type(its_type), priority(urgency) {}

  StreamType const type;
  int const priority;
  std::uint64_t id = 0;
  Operation* last = nullptr;    ///< The youngest operation that has not passed.
  std::uint64_t submitted = 0;  ///< Operations put in so far.
  std::uint64_t passed = 0;     ///< Operations that are over; they pass in order.
  bool running = false;         ///< An engine works on one of them.
  bool calling = false;         ///< The running one is a callback.
  Clock::time_point passed_at;  ///< Time at which the last of those that are over passed, if that is asked for.
  /// Threads that launch a kernel run its blocks. Written with the mutex held.
  std::atomic<bool> computes_here{false};
  std::condition_variable moved;
};

/// An event as the scheduler sees it; the scheduler's mutex guards all that is not const.
struct EventState {
  explicit EventState(bool keeps_time) : timing(keeps_time) {}

  bool const timing;
  Operation* pending = nullptr;  ///< The latest record, until it has passed.
  std::optional<Clock::time_point> passed_at;
  std::condition_variable passed;
};

/// Ways in which a callback is called: how often and from where.
enum class Delivery : std::uint8_t { once, late, early, twice, never, stray };

/// Values of StreamStatus::code after a fault; false_fault stands for one that never was.
inline constexpr int copy_fault = 1;
inline constexpr int kernel_fault = 2;
inline constexpr int false_fault = 3;
inline constexpr int abandoned_fault = 4;

/// One thing that a stream is asked to do. What does not belong to its kind is left empty.
struct Request {
  enum class Kind : std::uint8_t { upload, download, copy, kernel, callback, record, wait, write };

  Kind kind;
  std::span<std::byte> to = {};  ///< A copy goes here, from bytes of the same number.
  std::span<std::byte const> from = {};
  bool pageable = false;  ///< A TimeKeeper uses this and the next two: the copy's host memory is not pinned,
  bool far = false;       ///< or is on another NUMA node;
  bool peer = false;      ///< one side of the copy is memory of another device.
  CpuKernel kernel = {};
  std::uint64_t blocks = 0;
  KernelCost cost = {};  ///< A TimeKeeper uses it, and the bytes of it that go over the link.
  std::size_t linked_reads = 0;
  std::size_t linked_writes = 0;
  StreamCallback* callback = nullptr;
  Delivery delivery = Delivery::once;
  std::optional<StreamStatus> lie = {};  ///< Status that the callback is told instead of the truth.
  bool knows_status = true;              ///< A host function does not, and is not called on a lost device.
  bool abroad = false;            ///< A wait is for an event of another device, which counts among what is unmet.
  EventState* event = nullptr;    ///< Event to record, unless it died or was recorded again; or to wait for.
  std::uint64_t* word = nullptr;  ///< Place that `number` is written to.
  std::uint64_t number = 0;
  WorkFailure* failure = nullptr;  ///< Receives an exception of the kernel; null if that ends the device.
  bool breaks = false;             ///< A fault was injected: it ends the device instead of doing its work.
};

/// State that a TimeKeeper keeps of an operation.
struct OperationTime {
  OperationTime() = default;
  virtual ~OperationTime() = default;
  /// The operation is used again.
  virtual void renew() noexcept = 0;

  unsigned unmet = 0;  ///< Operations that must be over before this one begins.
  bool over = false;   ///< Its end has come.

 protected:
  OperationTime(OperationTime const&) = default;
  OperationTime& operator=(OperationTime const&) = default;
};

/// A request on its way through the device. It starts once all that it depends on is done. It passes once it is done;
/// with a TimeKeeper, once its time is over, too.
///
/// Threads: under the scheduler's mutex, except that the engine at work on it reads what it needs.
struct Operation {
  Request request{.kind = Request::Kind::wait};
  StreamState* stream = nullptr;
  std::uint64_t number = 0;            ///< Counts what was put into any stream.
  unsigned unmet = 0;                  ///< Operations that must be done before this one starts.
  std::vector<Operation*> dependents;  ///< Operations that count this one among their unmet.
  std::unique_ptr<Onward> onward;      ///< News to tell once this one has passed.

  bool started = false;                 ///< An engine works on it.
  bool done = false;                    ///< Its work is done.
  bool linked = false;                  ///< It has not passed.
  std::unique_ptr<OperationTime> time;  ///< Null, if the device keeps the system's time.
  Clock::time_point start;
  StreamStatus status;  ///< Status that a callback is told; known when an engine takes it.
  /// The next block of a kernel that no thread has claimed; beyond the last when all are claimed. Wider than a block's
  /// number, so that late claims do not wrap.
  std::atomic<std::uint64_t> next_block{0};
  unsigned workers = 0;  ///< Threads inside the kernel.

  Operation* next = nullptr;  ///< Neighbours in the queue that it stands in.
  Operation* previous = nullptr;
  bool queued = false;
};

/// True for a copy between the host and the device.
inline bool takes_the_link(Operation const& operation) noexcept {
  return operation.request.kind == Request::Kind::upload || operation.request.kind == Request::Kind::download;
}
inline bool is_copy(Operation const& operation) noexcept {
  return takes_the_link(operation) || operation.request.kind == Request::Kind::copy;
}

/// Operations in order of arrival, linked through themselves, so that queueing allocates nothing.
class OperationQueue {
 public:
  Operation* front() const noexcept { return first_; }
  Operation* back() const noexcept { return last_; }
  void push(Operation& operation) noexcept {
    operation.queued = true;
    operation.next = nullptr;
    operation.previous = last_;
    (last_ != nullptr ? last_->next : first_) = &operation;
    last_ = &operation;
  }
  void remove(Operation& operation) noexcept {
    (operation.previous != nullptr ? operation.previous->next : first_) = operation.next;
    (operation.next != nullptr ? operation.next->previous : last_) = operation.previous;
    operation.queued = false;
  }
  Operation* pop() noexcept {
    Operation* const operation = first_;
    if (operation != nullptr) remove(*operation);
    return operation;
  }

 private:
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
};

/// One thing that an engine has done.
struct Executed {
  Engine engine;         ///< Says what it was, too: an upload or copy, a download, a kernel, a callback.
  std::uint64_t stream;  ///< 0 is the legacy stream; others count from 1 in the order in which they were made.
  Clock::time_point start;
  Clock::time_point end;
};

/// Is told of each operation after it was done and before its stream continues. Must not throw.
///
/// Threads: those of the engines and those that run kernels which they launch, several at once.
/// Blocks:  its engine, for as long as it takes.
using Observer = std::function<void(Executed const&)>;

}  // namespace penstock::cpu
