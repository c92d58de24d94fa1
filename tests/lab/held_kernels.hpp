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

#include "penstock/lab/workbench.hpp"

namespace penstock::support {

/// Launches the kernels of an experiment on the CPU device, each to stay until it is told to end. They go by their
/// labels.
///
/// Threads: any.
class HeldKernels {
 public:
  lab::WorkbenchOptions options();

  /// Blocks: until the experiment has given that many to the device.
  void await_given(std::size_t count);
  /// The thread that gave the latest of them.
  pid_t giver() const;
  /// Those that the device has started, in that order.
  std::vector<std::string> started() const;
  bool has_started(std::string const& label) const;
  /// Blocks: until the device has started that many.
  void await_started(std::size_t count);
  /// Blocks: until the device has started it.
  void await_started(std::string const& label);
  /// Also those of that label that are given to the device later.
  ///
  /// Blocks: until it has ended.
  void end(std::string const& label);
  /// Also those that are given to the device later.
  void end_all();

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
