// SPDX-License-Identifier: Apache-2.0
#include "course/possible.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace penstock::lab {
namespace {

using Time = std::chrono::nanoseconds;

/// Plans steps one by one, by their starts. So all that is ready before a planned step is known.
class Planner {
 public:
  Planner(std::span<PlannedWork const> steps, CopyEngines engines)
      : steps_(steps), engines_(engines), planned_(steps.size()) {}

  std::vector<Planned> all() {
    for (std::size_t left = steps_.size(); left > 0; --left) plan_next();
    std::vector<Planned> all;
    for (auto const& one : planned_) all.push_back(*one);
    return all;
  }

 private:
  std::size_t unit_of(PlannedWork const& step) const {
    bool const shared = engines_.count < 2 && step.unit == Unit::down;
    return static_cast<std::size_t>(shared ? Unit::up : step.unit);
  }
  bool in_order_of_issue(PlannedWork const& step) const {
    bool const copies = step.unit == Unit::up || step.unit == Unit::down;
    return step.unit == Unit::host || (copies && engines_.in_order_of_issue);
  }
  /// Time when the step is ready; empty while it waits for one that is not planned.
  std::optional<Time> ready(std::size_t i) const {
    Time ready{};
    for (std::size_t const earlier : steps_[i].after) {
      if (!planned_[earlier]) return std::nullopt;
      ready = std::max(ready, planned_[earlier]->end);
    }
    if (!in_order_of_issue(steps_[i])) return ready;
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (unit_of(steps_[earlier]) == unit_of(steps_[i]) && !planned_[earlier]) return std::nullopt;
    }
    return ready;
  }
  void plan_next() {
    std::size_t next = steps_.size();
    Time next_ready{}, next_start{};
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (planned_[i]) continue;
      auto const when = ready(i);
      if (!when) continue;
      Time const start = std::max(*when, free_[unit_of(steps_[i])]);
      bool const sooner = next == steps_.size() || start < next_start || (start == next_start && *when < next_ready);
      if (!sooner) continue;
      next = i;
      next_ready = *when;
      next_start = start;
    }
    Time const end = next_start + steps_[next].time;
    planned_[next] = Planned{next_start, end};
    free_[unit_of(steps_[next])] = end;
  }

  std::span<PlannedWork const> const steps_;
  CopyEngines const engines_;
  std::vector<std::optional<Planned>> planned_;
  std::array<Time, 4> free_{};  ///< Time when each unit is through with what was planned for it.
};

}  // namespace

std::vector<Planned> plan(std::span<PlannedWork const> steps, CopyEngines engines) {
  return Planner(steps, engines).all();
}

std::chrono::nanoseconds possible(std::span<PlannedWork const> steps, CopyEngines engines) {
  Time end{};
  for (Planned const& one : plan(steps, engines)) end = std::max(end, one.end);
  return end;
}

std::chrono::nanoseconds serial(std::span<PlannedWork const> steps) {
  Time sum{};
  for (PlannedWork const& step : steps) sum += step.time;
  return sum;
}

}  // namespace penstock::lab
