// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "course/workbench.hpp"

namespace penstock::support {

/// Launches the kernels of an experiment, each to stay until it is told to end. They go by their labels.
///
/// Threads: any.
class HeldKernels {
 public:
  virtual ~HeldKernels() = default;
  virtual lab::WorkbenchOptions options() = 0;

  /// Blocks: until the experiment has given that many to the device.
  virtual void await_given(std::size_t count) = 0;
  /// The thread that gave the latest of them.
  virtual pid_t giver() const = 0;
  /// Those that the device has started, in that order.
  virtual std::vector<std::string> started() const = 0;
  bool has_started(std::string const& label) const;
  /// Blocks: until the device has started that many.
  virtual void await_started(std::size_t count) = 0;
  /// Blocks: until the device has started it.
  virtual void await_started(std::string const& label) = 0;
  /// Also those of that label that are given to the device later.
  virtual void end(std::string const& label) = 0;
  /// Also those that are given to the device later.
  virtual void end_all() = 0;
};

/// Held kernels on the CPU device.
class CpuHeldKernels final : public HeldKernels {
 public:
  lab::WorkbenchOptions options() override;
  void await_given(std::size_t count) override;
  pid_t giver() const override;
  std::vector<std::string> started() const override;
  void await_started(std::size_t count) override;
  void await_started(std::string const& label) override;
  /// Blocks: until it has ended.
  void end(std::string const& label) override;
  void end_all() override;

 private:
  struct State {
    std::mutex mutable mutex;
    std::condition_variable changed;
    std::size_t given = 0;
    pid_t giver = 0;
    std::vector<std::string> started;
    std::set<std::string> may_end;
    std::map<std::string, std::uint32_t> blocks_left;
    bool all_may_end = false;

    void stay(std::string const& label, Stamp& stamp);
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace penstock::support
