// SPDX-License-Identifier: Apache-2.0
#include "programs/command/arguments.hpp"
#include "programs/hash/hash_command.hpp"
#include "programs/work/ledger_files.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

void HashCommand::add_to(CLI::App& command) {
  command.add_option("PATH", paths, "Files, directories (all regular files below them) or - for standard input")
      ->type_name("");
  command.add_flag("-c,--check", check, "Read sums from the PATHs and check them");
  command.add_flag("--quiet", quiet, "With --check: do not print OK lines")->needs("--check");
  command.add_flag("--no-names", no_names, "Print hashes only")->excludes("--check");
  auto const options = figures.add_to(command, "Print an object a line, and a summary as the last", "each file");
  for (std::size_t i = 0; i < 2; ++i) options[i]->excludes("--quiet")->excludes("--no-names");
  auto* const leases =
      command.add_option("--ledger", ledger, "Share the files with other processes, and go on if stopped");
  leases->type_name("FILE")->excludes("--check");
  command
      .add_option("--workers", workers,
                  "Hash in so many processes, each with a GPU of its own, and replace one that fails")
      ->type_name("N")
      ->check(whole_number(1, 1024))
      ->needs(leases)
      ->excludes(options[2]);
  command.add_option("--shard", shard, "Hash one file in N, from the Kth on; auto: as Slurm or MPI says")
      ->type_name("K/N")
      ->excludes("--check");
  command.add_flag("--as-worker", as_worker)->group("");
  command.add_flag("--no-progress", no_progress, "No progress bar, not even on a terminal");
  command.footer(
      "If only files are named, at most 64, and they cannot fill these tiles, there are smaller and fewer ones, also\n"
      "where --tile and --tiles are given; but not with --check. A pipe, a terminal or a device has tiles of 64MiB at\n"
      "most, and four of these, unless --tiles is given. While a GPU starts that --device did not name, the CPUs\n"
      "hash. --trace also says on standard error what bounded the run, with --json in the summary, if it looks at\n"
      "every tile.");
  pipeline.add_to(command, "a power of two from 1KiB to 1GiB, so 4MiB and not 4MB. Default: 4MiB");
  trace.add_to(command, "the run");
}

std::vector<std::string> HashCommand::inputs() const {
  return paths.empty() ? std::vector<std::string>{"-"} : paths;
}

/// Throws: Error of kind bad_argument, if it is none, or no variable says which.
Shard HashCommand::own_shard() const {
  if (shard.empty()) return {};
  if (shard != "auto") return shard_of(shard);
  if (auto const found = shard_of_batch_system()) return *found;
  throw Error(ErrorKind::bad_argument,
              "--shard auto: neither Slurm (an array job, or srun) nor MPI says which. Name it, such as --shard 3/16.");
}

/// A ledger file is for one shard: a process goes on with its own, and asks no others.
std::string HashCommand::own_ledger() const {
  Shard const own = own_shard();
  if (ledger.empty() || own.is_all()) return ledger;
  if (LedgerFiles::names(ledger).empty())
    throw Error(ErrorKind::bad_argument,
                "A ledger in PostgreSQL is for all processes: leave --shard out, or name a file for --ledger.");
  return name_for(own, ledger);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
