// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_command.hpp"

#ifdef PENSTOCK_WITH_LEASE
#include "programs/command/program.hpp"
#include "programs/work/supervise.hpp"
#else
#include "penstock/error.hpp"
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
  Supervision wanted{.command = {this_program()}, .workers = workers, .draws = !no_progress};
  wanted.command.insert(wanted.command.end(), arguments.begin(), arguments.end());
  // Behind the command's name: what follows "--" is no option.
  wanted.command.insert(wanted.command.begin() + 2, "--as-worker");
  SupervisionEnd const end = supervise(job.ledger(), wanted, output, interrupt);
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
  throw Error(ErrorKind::unsupported,
              "This build has no ledgers, as SQLite was not there: install libsqlite3-dev, and build penstock again.");
}

#endif

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
