// SPDX-License-Identifier: Apache-2.0
#include "programs/work/work_command.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "penstock/error.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/program.hpp"
#include "programs/command/program_file.hpp"
#include "programs/work/ledger_files.hpp"
#include "programs/work/shared_ledger.hpp"
#ifdef PENSTOCK_WITH_LEASE
#include "penstock/lease/open_ledger.hpp"
#include "programs/page/results_page.hpp"
#include "programs/work/ledger_status.hpp"
#include "programs/work/supervise.hpp"
#endif

namespace penstock::cli {

void WorkCommand::add_to(CLI::App& command) {
  command.add_option("--ledger", ledger, "The ledger, which is there: a file, or postgresql://...")
      ->required()
      ->type_name("FILE")
      ->check(names_a_file());
  auto* const program =
      command.add_option("PROGRAM", words, "Behind --: a program that takes leases, and its arguments");
  program->type_name("");
  command
      .add_option("--workers", workers, "How many processes of it. Default: one for each GPU, or one if there is none")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  command
      .add_option("--patience", supervision.patience_s,
                  "Replace a worker that has leases out and moves none of them for so long. Default: 60")
      ->type_name("SECONDS")
      ->check(number_between(1, 86'400, "a number of seconds"));
  command
      .add_option("--grace", supervision.grace_s,
                  "How long workers may take to end when they are asked to. Default: 30")
      ->type_name("SECONDS")
      ->check(number_between(0, 86'400, "a number of seconds"));
  supervision.live.add_to(command);
  auto* const shows = command.add_flag("--status", status, "Show what the ledger has, and its rate over a second");
  shows->excludes(program);
  for (CLI::Option* const one : figures.add_to(command, "Print JSON, as docs/results.md says", "the ledger"))
    one->needs(shows);
  command.add_flag("--no-progress", no_progress, "No line of progress, not even on a terminal");
  command.footer(
      "Keeps processes at work on the leases of a ledger. One that ends, hangs or is stopped is replaced, and the\n"
      "others go on. Code 0 of a worker means that it has nothing more to do, and code 2 that its options are bad,\n"
      "so that all end. PENSTOCK_WORKER tells a worker its place, as 2/4, and CUDA_VISIBLE_DEVICES its GPU.");
}

#ifdef PENSTOCK_WITH_LEASE

ExitCode WorkCommand::run(StandardOutput& output, Interrupt const& interrupt) {
  if (status) return show(output, interrupt);
  if (words.empty())
    throw Error(ErrorKind::bad_argument,
                "Name a program that takes leases, behind --, or --status: penstock work --ledger FILE -- ./program.");
  return work(output, interrupt);
}

ExitCode WorkCommand::show(StandardOutput& output, Interrupt const& interrupt) const {
  constexpr std::size_t most_parked = 1000;
  std::vector<NamedFile> read;
  for (std::string const& name : LedgerFiles::names(ledger)) read.push_back({"--ledger", name, {}, false});
  FilesToWrite files(read, std::vector<NamedFile>{figures.page()}, interrupt.token());
  auto const there = open_ledger(ledger, {.opening = LedgerOpening::existing});
  Ledger& opened = *there;
  LedgerStatus now{.ledger = ledger};
  LedgerProgress const before = opened.progress();
  if (!before.finished()) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    never.wait_for(lock, interrupt.token(), std::chrono::seconds(1), [] { return false; });
    if (interrupt.requested()) return exit_interrupted;
  }
  now.progress = opened.progress();
  now.leases_per_second = leases_per_second(before, now.progress);
  now.upkeep = opened.upkeep();
  now.parked = opened.parked(0, most_parked);
  auto const row = [&] { return std::vector{row_of(now)}; };
  if (!output.write(figures.json ? status_json(now) : figures.csv ? csv_of(row()) : status_text(now)))
    return exit_some_failed;
  if (OutputFile* const page = files.of("--html"); page != nullptr)
    write_page(*page, with_lines(status_json(now), row(), sentences_of(now)), title_of("work"));
  return exit_ok;
}

ExitCode WorkCommand::work(StandardOutput& output, Interrupt const& interrupt) {
  auto const there = open_ledger(ledger, {.opening = LedgerOpening::existing});
  Ledger& opened = *there;
  supervision.command = words;
  supervision.command.front() = find_program(words.front()).path;
  supervision.workers = workers != 0 ? workers : std::max(1U, static_cast<unsigned>(gpus_for_workers().size()));
  supervision.draws = !no_progress;
  SupervisionEnd const end = supervise(opened, supervision, output, interrupt);
  if (end.end == WorkersEnd::refused) return exit_bad_options;
  WorkersSnapshot last = end.last;
  last.ledger = opened.progress();
  LedgerProgress const& all = *last.ledger;
  std::string text = describe(all);
  if (last.replaced != 0) text += "; workers replaced: " + std::to_string(last.replaced);
  tell(text);
  if (end.end == WorkersEnd::stopped) return exit_interrupted;
  if (all.parked != 0) tell("penstock work --ledger " + ledger + " --status says why leases are parked.");
  return all.ready + all.out + all.parked == 0 ? exit_ok : exit_some_failed;
}

#else

ExitCode WorkCommand::run(StandardOutput&, Interrupt const&) {
  refuse_ledgers();
}

#endif

}  // namespace penstock::cli
