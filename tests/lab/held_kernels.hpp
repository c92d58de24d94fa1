// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "penstock/lab/workbench.hpp"

namespace penstock::support {

/// Launches the kernels of an experiment on the CPU device, each to stay until it is told to end. They go by their
/// labels.
///
/// Threads: any.
class HeldKernels {
 public:
  lab::WorkbenchOptions options();

  /// Blocks: until the experiment has given it to the device.
  void await_given(std::string const& label) { state_->await(state_->given, label); }
  /// True once the device has started it.
  bool running(std::string const& label) const { return state_->holds(state_->running, label); }
  /// Blocks: until `running`.
  void await_running(std::string const& label) { state_->await(state_->running, label); }
  void end(std::string const& label) { state_->add(state_->ended, label); }
  /// Also those that are given to the device later.
  void end_all();

 private:
  struct State {
    std::mutex mutable mutex;
    std::condition_variable changed;
    std::set<std::string> given, running, ended;
    bool all_ended = false;

    void add(std::set<std::string>& to, std::string const& label);
    bool holds(std::set<std::string> const& in, std::string const& label) const;
    void await(std::set<std::string> const& in, std::string const& label);
    void stay(std::string const& label, Stamp& stamp);
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace penstock::support
