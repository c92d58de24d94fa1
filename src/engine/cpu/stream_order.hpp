// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/cpu/operation.hpp"
#include "engine/cpu/time_keeper.hpp"

namespace penstock::cpu {

/// The operations of the streams, and their dependencies: CUDA's stream rules.
///
/// An operation depends on the one before it in its stream. In the legacy stream it also depends on the youngest of
/// every blocking stream; in a blocking stream, on the youngest of the legacy stream. A wait also depends on the record
/// that it names, which may be one of another device. What it depends on counts it among its `dependents`, and it
/// counts them as `unmet`.
///
/// Each operation is linked into a stream, about to be forgotten by a SchedulerLock, or among the `unused` ones; none
/// is freed before the device.
///
/// Threads: under the scheduler's mutex.
class StreamOrder {
 public:
  /// `keeper`: null for the system's time.
  explicit StreamOrder(TimeKeeper const* keeper = nullptr) : keeper_(keeper) {}

  void add(StreamState& stream) {
    streams_.push_back(&stream);
    stream.id = next_stream_id_++;
    if (stream.type == StreamType::legacy) legacy_ = &stream;
  }
  /// Shape: all that was put into the stream has passed.
  void remove(StreamState& stream) noexcept {
    std::erase(streams_, &stream);
    if (legacy_ == &stream) legacy_ = nullptr;
  }
  std::vector<StreamState*> const& streams() const noexcept { return streams_; }
  std::vector<std::unique_ptr<Operation>> const& operations() const noexcept { return operations_; }
  /// Operations that are over, for later use.
  OperationQueue& unused() noexcept { return unused_; }

  /// Puts an operation into the stream, behind all that it depends on.
  ///
  /// Throws: std::bad_alloc; nothing was put into the stream then.
  Operation& put(StreamState& stream, Request&& request) {
    make_room(stream, request);
    Operation& operation = *unused_.back();
    unused_.remove(operation);
    operation.request = std::move(request);
    operation.stream = &stream;
    operation.number = next_number_++;
    operation.unmet = 0;
    operation.started = operation.done = false;
    operation.linked = true;
    if (operation.time != nullptr) operation.time->renew();
    operation.next_block.store(0, std::memory_order_relaxed);
    link(operation);
    return operation;
  }

 private:
  /// Calls `act(Operation&)` for each that the operation depends on, for one at most twice.
  template <class Act>
  void for_each_before(StreamState const& stream, Request const& request, Act act) {
    auto const unless_none = [&](Operation* before) {
      if (before != nullptr) act(*before);
    };
    unless_none(stream.last);
    if (stream.type == StreamType::legacy) {
      for (StreamState const* other : streams_) {
        if (other->type == StreamType::blocking) unless_none(other->last);
      }
    } else if (stream.type == StreamType::blocking && legacy_ != nullptr) {
      unless_none(legacy_->last);
    }
    if (request.kind == Request::Kind::wait && request.event != nullptr) unless_none(request.event->pending);
  }
  /// Does all that may fail, before anything is linked.
  void make_room(StreamState const& stream, Request const& request) {
    if (unused_.front() == nullptr) {
      auto made = std::make_unique<Operation>();
      if (keeper_ != nullptr) made->time = keeper_->make_time();
      operations_.push_back(std::move(made));
      unused_.push(*operations_.back());
    }
    for_each_before(stream, request, [](Operation& before) {
      auto& dependents = before.dependents;
      // There is room for two, as the last operation of a stream may also be the record that is waited for. It doubles,
      // so that many dependents take few allocations.
      if (dependents.capacity() - dependents.size() < 2) dependents.reserve(2 * dependents.capacity() + 2);
    });
  }
  void link(Operation& operation) noexcept {
    StreamState& stream = *operation.stream;
    for_each_before(stream, operation.request, [&](Operation& before) {
      before.dependents.push_back(&operation);
      if (!before.done) ++operation.unmet;
      if (operation.time != nullptr && !before.time->over) ++operation.time->unmet;
    });
    if (operation.request.abroad) {
      ++operation.unmet;
      if (operation.time != nullptr) ++operation.time->unmet;
    }
    EventState* const event = operation.request.event;
    if (operation.request.kind == Request::Kind::wait) {
      // The record is captured; the event may now be recorded again, or die.
      operation.request.event = nullptr;
    } else if (operation.request.kind == Request::Kind::record) {
      if (event->pending != nullptr) event->pending->request.event = nullptr;
      event->pending = &operation;
      event->passed_at.reset();
    }
    stream.last = &operation;
    ++stream.submitted;
  }

  TimeKeeper const* const keeper_;
  std::vector<StreamState*> streams_;
  StreamState* legacy_ = nullptr;
  std::uint64_t next_stream_id_ = 0;
  std::uint64_t next_number_ = 0;
  std::vector<std::unique_ptr<Operation>> operations_;
  OperationQueue unused_;
};

}  // namespace penstock::cpu
