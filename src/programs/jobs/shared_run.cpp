// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/named_devices.hpp"
#include "programs/command/program.hpp"
#include "programs/jobs/ledger_run.hpp"
#include "programs/jobs/run_command.hpp"
#include "programs/measure/job_profile.hpp"
#include "programs/work/ledger_files.hpp"
#include "programs/work/supervision.hpp"
#ifdef PENSTOCK_WITH_LEASE
#include "programs/work/supervise.hpp"
#endif

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Lets workers do the leases. False if they were refused their options.
#ifdef PENSTOCK_WITH_LEASE
bool let_workers_run(LedgerRun& run, Supervision const& wanted, StandardOutput& output, Interrupt const& interrupt) {
  return supervise(run.ledger(), wanted, output, interrupt).end != WorkersEnd::refused;
}
#else
bool let_workers_run(LedgerRun&, Supervision const&, StandardOutput&, Interrupt const&) {
  return false;
}
#endif

}  // namespace

/// This process fills the ledger and takes leases of it, or lets workers do that, and prints what all came to.
ExitCode RunCommand::run_shared(StandardOutput& output, Interrupt const& interrupt) const {
  measure::Setting const wanted = checked_setting();
  if (!trace.file.empty() || trace.nvtx)
    throw Error(ErrorKind::bad_argument,
                "--ledger has no trace: each lease is a run of its own. Leave one of them out.");
  LedgerRole const role = as_worker ? LedgerRole::worker : workers != 0 ? LedgerRole::supervisor : LedgerRole::alone;
  auto read = inputs();
  for (std::string const& name : LedgerFiles::names(ledger)) read.push_back({"--ledger", name, {}, false});
  std::vector<NamedFile> written;
  if (role != LedgerRole::worker) written.push_back(figures.page());
  FilesToWrite files(read, written, interrupt.token());
  std::optional<Devices> devices;
  DeviceInfo info;
  std::vector<std::string> names;
  if (role == LedgerRole::supervisor) {
    info.name = std::to_string(workers) + " workers";
  } else {
    devices.emplace(open_devices(pipeline.wish()));
    pipeline.profile.warn(machine_here(*devices));
    info = devices->info();
    names = devices->names();
  }
  LedgerRun run({.path = ledger, .part_bytes = parse_size(lease), .role = role}, wanted, interrupt.token());
  if (role == LedgerRole::supervisor) {
    Supervision const supervision{
        .command = worker_command(arguments), .workers = workers, .live = live, .draws = !figures.as_data()};
    if (!run.finished() && !let_workers_run(run, supervision, output, interrupt)) return exit_bad_options;
  } else {
    LiveRun told_of(role == LedgerRole::worker ? LiveArguments() : live,
                    role == LedgerRole::worker || figures.as_data());
    measure::TrialOptions options;
    options.beside = [&](Pipeline const& runs, Source const& source, JobWork const& work) {
      return told_of.begin(runs, source, work, interrupt);
    };
    auto const told = told_of.begin_leases([&] { return run.so_far(); }, interrupt);
    run.work(*devices, options);
  }
  if (interrupt.requested() || !run.finished()) {
    if (role != LedgerRole::worker) tell(ledger + " has what was done: the same command goes on.");
    return interrupt.requested() ? exit_interrupted : exit_some_failed;
  }
  if (role == LedgerRole::worker) return exit_ok;
  BenchFacts const facts = facts_here(std::move(info), std::move(names), flavour(), built_with_cuda(), command_line);
  JobPoint const point = wanted.point();
  return conclude({.point = point, .facts = facts, .whole = run.results(), .is_all = true, .page = files.of("--html")},
                  output, interrupt);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
