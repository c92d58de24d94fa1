// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cpu/time_keeper.hpp"
#include "models/device_model.hpp"
#include "models/timeline.hpp"

namespace penstock::cpu {

/// Has CPU devices keep the time of that model, as CpuOptions::time.
TimeKeeperMaker modelled_time(DeviceModel model);

/// The time of a modelled GPU: Timeline says when operations end there.
///
/// Threads: as TimeKeeper.
class ModelledTime final : public TimeKeeper {
 public:
  explicit ModelledTime(DeviceModel const& model) : timeline_(model) {}

  void describe(DeviceInfo& info) const override;
  bool is_far(std::byte const* host, std::optional<int> placed) const noexcept override;

  void begin_call() noexcept override;
  void end_call(DriverCall call) noexcept override;

  Time told(Time passed) const noexcept override { return timeline_.told(passed); }
  bool noticed(Time passed) const noexcept override { return Clock::now() >= passed + timeline_.noticed_after(); }
  void await_notice(Time passed) const noexcept override;

  std::unique_ptr<OperationTime> make_time() const override { return std::make_unique<Modelled>(); }
  Time advance(Time now, TimedOperations& operations) override;
  void add(Operation& operation, Time now) noexcept override { timeline_.add(operation, now); }
  void release(Operation& operation, Time now) noexcept override { timeline_.release(operation, now); }
  bool may_call(Operation const& callback) const noexcept override { return modelled(callback).due; }
  bool holds(Operation& worked) noexcept override;
  bool done(Operation& operation) noexcept override;
  Time end_of(Operation const& operation) const noexcept override { return modelled(operation).end; }
  void drop(std::vector<std::unique_ptr<Operation>> const& all, TimedOperations& operations) override;
  std::vector<std::string> remarks(std::string const& device) override;

 private:
  void count(Operation const& passing) noexcept;
  std::chrono::nanoseconds cost_of(DriverCall call) noexcept;

  Timeline timeline_;
  std::uint64_t timed_ = 0;                   ///< Operations that passed,
  std::uint64_t timed_late_ = 0;              ///< and those of them that were late.
  std::atomic<std::int64_t> driver_free_{0};  ///< Time of the driver's next call, in nanoseconds of Clock.
};

}  // namespace penstock::cpu
