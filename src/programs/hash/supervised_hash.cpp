// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_command.hpp"

#ifdef PENSTOCK_WITH_LEASE
#include "penstock/error.hpp"
#include "programs/work/supervise.hpp"
#endif

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

#ifdef PENSTOCK_WITH_LEASE

/// This process fills the ledger, lets workers hash, and prints what they put there.
ExitCode HashCommand::supervise_workers(StandardOutput& output, Interrupt const& interrupt) const {
  if (!trace.file.empty() || trace.nvtx)
    throw Error(ErrorKind::bad_argument,
                "--workers has no trace: each worker has a pipeline of its own. Leave it out.");
  HashRequest request = this->request(std::size_t{1} << 20, {});
  request.draw_progress = false;
  HashJob job(std::move(request), output, interrupt.token());
  Supervision const wanted{.command = worker_command(arguments), .workers = workers, .draws = !no_progress};
  SupervisionEnd end;
  if (!job.ledger().progress().finished()) end = supervise(job.ledger(), wanted, output, interrupt);
  if (end.end == WorkersEnd::refused) return exit_bad_options;
  job.finish_ledger();
  Report report;
  report.stopped = end.end == WorkersEnd::stopped;
  DeviceInfo info;
  info.name = std::to_string(workers) + " workers";
  job.output().summary({.report = report, .device = info});
  return end_of(report, job, nullptr, interrupt.token());
}

#else

ExitCode HashCommand::supervise_workers(StandardOutput&, Interrupt const&) const {
  refuse_ledgers();
}

#endif

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
