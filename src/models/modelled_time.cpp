// SPDX-License-Identifier: Apache-2.0
#include "models/modelled_time.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/core/host_time.hpp"
#include "engine/core/number_text.hpp"
#include "engine/core/too_slow.hpp"
#include "models/host_keeper.hpp"

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

/// An operation is late if it is done this long after its end. A host that looks takes as long.
constexpr std::chrono::microseconds least_delay{10};

/// The NUMA node of the page at an address; empty if the system does not say.
std::optional<int> node_of(std::byte const* address) noexcept {
  int node = -1;
  long const failed = syscall(SYS_get_mempolicy, &node, nullptr, 0UL, address, MPOL_F_NODE | MPOL_F_ADDR);
  return failed == 0 && node >= 0 ? std::optional(node) : std::nullopt;
}

bool notes_times(Request const& kernel) noexcept {
  return kernel.cost.began != nullptr || kernel.cost.ended != nullptr;
}

void note_times(Operation const& kernel) noexcept {
  auto const note = [](std::uint64_t* where, Clock::time_point when) {
    if (where == nullptr) return;
    // Relaxed: a thread that reads it has waited for the kernel.
    std::atomic_ref<std::uint64_t>(*where).store(static_cast<std::uint64_t>(when.time_since_epoch().count()),
                                                 std::memory_order_relaxed);
  };
  note(kernel.request.cost.began, modelled(kernel).begin);
  note(kernel.request.cost.ended, modelled(kernel).end);
}

/// Part of the operations that may be late, and by which the work of host threads may take longer.
constexpr double bearable = 0.02;

/// The factor of a clock on which this machine would not be late, in steps of 10.
unsigned factor_that_would_do(double late, double lost) noexcept {
  // On a clock that is slower by n, threads wait for CPUs n times less often, and less of each wait is lost. The part
  // of the operations whose delay is longer than a time falls exponentially with it. The machine may be busier the next
  // time.
  constexpr double margin = 1.5, least = 2, most = 20, step = 10, largest = 10'000;
  double const by_operations = late > bearable ? std::log(bearable) / std::log(std::min(late, 0.95)) : 1;
  double const by_work = std::sqrt(lost / bearable);
  double const times = std::clamp(margin * std::max(by_operations, by_work), least, most);
  return static_cast<unsigned>(std::min(largest, step * std::ceil(times * Clock::slower() / step)));
}

DeviceModel::Time call_of(DeviceModel::Calls const& calls, DriverCall call) noexcept {
  switch (call) {
    case DriverCall::copy:
      return calls.copy;
    case DriverCall::launch:
      return calls.launch;
    case DriverCall::record:
      return calls.record;
    case DriverCall::wait:
      return calls.wait;
    case DriverCall::callback:
      return calls.callback;
    case DriverCall::query:
      return calls.query;
    case DriverCall::synchronize:
      return calls.synchronize;
    case DriverCall::graph:
      return calls.graph;
  }
  return {};
}

}  // namespace

TimeKeeperMaker modelled_time(DeviceModel model) {
  return [model = std::move(model)] { return std::make_unique<ModelledTime>(model); };
}

void ModelledTime::describe(DeviceInfo& info) const {
  DeviceModel const& model = timeline_.model();
  info.name = "model of " + model.name;
  info.copy_engines = model.copy_engines;
  info.compute_units = static_cast<int>(model.kernels.units);
  info.link = model.link_name;
  info.modelled = true;
  info.model = model.called;
  info.host_cpus = model.host_cpus;
  info.host_nodes = model.host_nodes;
  if (model.node >= 0) info.numa_node = model.node;
}

bool ModelledTime::is_far(std::byte const* host, std::optional<int> placed) const noexcept {
  DeviceModel const& model = timeline_.model();
  if (placed) return *placed != 0;
  return model.link.far > 0 && model.node >= 0 && node_of(host).value_or(model.node) != model.node;
}

void ModelledTime::begin_call() noexcept {
  HostTime::begin_call();
}

void ModelledTime::end_call(DriverCall call) noexcept {
  HostTime::end_call(cost_of(call));
}

/// Cost of a call to the calling thread, which waits for the calls of others in it.
std::chrono::nanoseconds ModelledTime::cost_of(DriverCall call) noexcept {
  auto const whole = [](DeviceModel::Time time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  };
  DeviceModel::Calls const& calls = timeline_.model().calls;
  std::int64_t const now = Clock::now().time_since_epoch().count();
  std::int64_t const alone = whole(calls.alone);
  // Relaxed: it is a count of time, and guards nothing.
  std::int64_t free = driver_free_.load(std::memory_order_relaxed);
  while (!driver_free_.compare_exchange_weak(free, std::max(free, now) + alone, std::memory_order_relaxed)) {
  }
  return std::chrono::nanoseconds(std::max<std::int64_t>(0, free - now) + whole(call_of(calls, call)));
}

void ModelledTime::await_notice(Time passed) const noexcept {
  HostTime::forget();  // The cost of the call has the time of the wait itself.
  wait_until(passed + timeline_.noticed_after());
}

TimeKeeper::Time ModelledTime::advance(Time now, TimedOperations& operations) {
  timeline_.advance(now);
  while (Operation* const callback = timeline_.next_due()) {
    if (callback->unmet == 0) operations.make_ready(*callback);
  }
  while (Operation* const over = timeline_.next_over()) {
    if (over->done) {
      count(*over);  // No thread looked between its end and now.
      operations.pass(*over);
      continue;
    }
    modelled(*over).awaited = true;
    if (modelled(*over).held) operations.complete(*over);
  }
  return timeline_.next_event();
}

/// Holds a kernel that notes its times, since what is behind it may read them.
bool ModelledTime::holds(Operation& worked) noexcept {
  if (!notes_times(worked.request)) return false;
  if (!worked.time->over) {
    modelled(worked).held = true;
    return true;
  }
  note_times(worked);
  return false;
}

bool ModelledTime::done(Operation& operation) noexcept {
  if (operation.request.kind == Kind::callback) timeline_.called(operation, Clock::now());
  modelled(operation).done_at = Clock::now();
  if (!modelled(operation).awaited) return false;
  count(operation);
  return true;
}

/// Counts an operation that passes; it was late if it was over before it was done.
void ModelledTime::count(Operation const& passing) noexcept {
  ++timed_;
  Modelled const& its = modelled(passing);
  if (!its.held && its.done_at - its.end > least_delay) ++timed_late_;
}

void ModelledTime::drop(std::vector<std::unique_ptr<Operation>> const& all, TimedOperations& operations) {
  for (;;) {
    Operation* first = nullptr;
    for (auto const& operation : all) {
      bool const waits = operation->linked && operation->unmet == 0 && !operation->started && !operation->queued &&
                         operation->request.kind == Kind::callback && !modelled(*operation).due;
      if (!waits && !(operation->linked && (operation->done || modelled(*operation).held))) continue;
      if (first == nullptr || operation->number < first->number) first = operation.get();
    }
    if (first == nullptr) return;
    if (first->done) {
      operations.pass(*first);
    } else if (modelled(*first).held) {
      operations.complete(*first);
    } else {
      modelled(*first).due = true;
      operations.make_ready(*first);
    }
  }
}

std::vector<std::string> ModelledTime::remarks(std::string const& device) {
  auto const late_ones = static_cast<double>(std::exchange(timed_late_, 0));
  auto const all = static_cast<double>(std::exchange(timed_, 0));
  double const late = all > 0 ? late_ones / all : 0, lost = HostTime::take_lost_part();
  std::string what;
  if (late > bearable) what = percent_text(late) + " of the operations of the " + device + " were late";
  if (lost > bearable) {
    what += what.empty() ? "" : ", and ";
    what += "work of host threads took " + percent_text(lost) + " longer, because they waited for its CPUs";
  }
  if (what.empty()) return {};
  return {std::string(too_slow_for_its_clock) + ": " + what + ". Times may be too long; " +
          std::string(larger_factor_would_do) + std::to_string(factor_that_would_do(late, lost)) + "."};
}

}  // namespace penstock::cpu
