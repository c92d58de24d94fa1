// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "penstock/job.hpp"
#include "penstock/operate/operation.hpp"
#include "penstock/pipeline.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/live_arguments.hpp"
#include "programs/command/progress.hpp"

namespace penstock::cli {

/// Reports of a run while it goes on: a line that is drawn over itself, if standard error is a terminal; a line at a
/// fixed interval; metrics by HTTP; and its state to systemd.
///
/// Threads: one; it has two more of its own while a run goes on.
class LiveRun {
 public:
  /// Opens the address.
  ///
  /// `quiet`: no line is drawn over itself.
  /// Throws: as MetricsServer.
  LiveRun(LiveArguments const& arguments, bool quiet);

  /// Reports on this run until the result is destroyed; SIGHUP calls the work's `reopen` meanwhile.
  std::shared_ptr<void> begin(Pipeline const& pipeline, Source const& source, JobWork const& work,
                              Interrupt const& interrupt);

 private:
  class Naming;
  class Watch;

  /// The run that is reported on, for requests on other threads.
  struct Current {
    std::mutex mutex;
    Pipeline const* pipeline = nullptr;
    Source const* source = nullptr;

    void add_to(std::vector<Metric>& metrics);
    Health health();
  };

  std::chrono::duration<double> const every_;
  bool const quiet_;
  Current current_;
  std::optional<MetricsServer> server_;
};

}  // namespace penstock::cli
