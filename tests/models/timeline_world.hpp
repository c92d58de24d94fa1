// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "engine/cpu/stream_order.hpp"
#include "models/modelled_time.hpp"
#include "models/timeline.hpp"

namespace penstock::cpu {

using Kind = Request::Kind;
using Micro = DeviceModel::Time;

/// A link of 1 GB/s: a byte takes a nanosecond.
inline DeviceModel plain_model() {
  DeviceModel model;
  model.link = {.up = 1, .down = 1, .both = 1, .mapped = 1, .pageable = 0.5, .copy = Micro(0)};
  model.kernels = {.units = 2, .threads_per_unit = 128, .memory = 10, .tera_flops = 1, .start = Micro(0)};
  return model;
}

/// Operations in streams, and a clock that the test sets.
class TimelineOf {
 public:
  explicit TimelineOf(DeviceModel const& model) : timeline_(model), times_(model) {}

  StreamState& stream(int priority = least_priority) {
    StreamState& made = streams_.emplace_back(StreamType::non_blocking, priority);
    order_.add(made);
    return made;
  }
  /// Puts a request in now.
  Operation& put(StreamState& stream, Request request) {
    timeline_.advance(now_);
    Operation& operation = order_.put(stream, std::move(request));
    timeline_.add(operation, now_);
    return operation;
  }
  Operation& copy(StreamState& stream, Kind kind, std::size_t bytes) {
    return put(stream, {.kind = kind, .from = {bytes_.data(), bytes}});
  }
  Operation& kernel(StreamState& stream, KernelCost const& cost) {
    return put(stream, {.kind = Kind::kernel, .cost = cost});
  }
  void pass(std::chrono::nanoseconds time) { now_ += time; }
  void run() {
    now_ += std::chrono::hours(1);
    timeline_.advance(now_);
  }
  Timeline& timeline() { return timeline_; }
  Timeline::Time now() const { return now_; }

  static std::chrono::nanoseconds begin(Operation const& operation) { return since(modelled(operation).begin); }
  static std::chrono::nanoseconds end(Operation const& operation) { return since(modelled(operation).end); }
  static std::chrono::nanoseconds since(Timeline::Time time) { return time - Timeline::Time{}; }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(std::size_t{1} << 22);
  Timeline timeline_;
  ModelledTime times_;  ///< Makes what is kept of each operation; the timeline is the test's own.
  StreamOrder order_{&times_};
  std::deque<StreamState> streams_;
  Timeline::Time now_{};
};

}  // namespace penstock::cpu
