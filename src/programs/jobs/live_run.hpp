// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "penstock/job.hpp"
#include "penstock/operate/operation.hpp"
#include "penstock/pipeline.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/live_arguments.hpp"
#include "programs/command/progress.hpp"

namespace penstock::cli {

/// What leases have come to, while they are worked on.
struct LeasesSoFar {
  std::string words;                ///< "12 of 40 leases done, 3.1/s, 2 out".
  std::optional<double> part = {};  ///< Of those that there will be, 0 to 1; empty if that is not known.
};

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
  /// Reports on leases until the result is destroyed, be there a run now or not: each line begins with what they came
  /// to. Runs that `begin` is told of meanwhile are in that line, and have none of their own.
  ///
  /// `ask`: called on a thread of this. A line for which it throws is left out.
  std::shared_ptr<void> begin_leases(std::function<LeasesSoFar()> ask, Interrupt const& interrupt);

 private:
  class Naming;
  class Lines;
  class Leases;
  class Watch;

  /// The run that is reported on, for requests on other threads.
  struct Current {
    std::mutex mutex;
    Pipeline const* pipeline = nullptr;
    Source const* source = nullptr;
    bool on_leases = false;  ///< There need not be a run now.

    /// Of the pipeline; that of no run, if there is none.
    Snapshot snapshot();
    void add_to(std::vector<Metric>& metrics);
    Health health();
  };

  std::chrono::duration<double> const every_;
  bool const quiet_;
  Current current_;
  std::optional<MetricsServer> server_;
};

}  // namespace penstock::cli
