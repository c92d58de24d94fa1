// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <filesystem>
#include <string>

#include "penstock/error.hpp"
#include "penstock/flavour.hpp"
#include "penstock/job.hpp"
#include "penstock/models/devices.hpp"
#include "programs/bench/bench_command.hpp"
#include "programs/command/commands.hpp"
#include "programs/command/program.hpp"
#include "programs/compare/compare_command.hpp"
#include "programs/jobs/run_command.hpp"
#include "programs/jobs/watched_run.hpp"
#include "programs/measure/pace_probe.hpp"
#include "programs/tune/tune_command.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// The name of the per-thread program of the job, also if this is the legacy one.
std::string name_of(std::string const& program) {
  constexpr std::string_view legacy = "-legacy";
  bool const is_legacy = flavour() == Flavour::legacy && program.ends_with(legacy);
  return is_legacy ? program.substr(0, program.size() - legacy.size()) : program;
}

}  // namespace

int run_job(int count, char** arguments, Job const& described, char const* libraries) noexcept try {
  using namespace penstock::cli;
  std::string const program = std::filesystem::path(this_program()).filename();
  Job job = described;
  if (job.name.empty()) job.name = name_of(program);
  RunCommand run{.job = job};
  run.arguments.assign(arguments + 1, arguments + count);
  BenchCommand bench;
  CompareCommand compare;
  compare.choose_factor = measure::choose_factor;
  TuneCommand tune;
  WatchedRun watch(job, command_text(count, arguments), libraries);
  compare.program = name_of(program);
  bench.sweep.axes.job = compare.sweep.axes.job = tune.lists.job = &job;
  run.command_line = bench.sweep.command_line = compare.sweep.command_line = tune.command_line =
      command_text(count, arguments);
  Commands commands(job.sentence, program, "penstock " + build_text(PENSTOCK_VERSION, flavour(), built_with_cuda()));
  try {
    commands.add("run", "Do the job once, and print its results", "some input failed or is missing from the results",
                 run);
    commands.add("bench", "Measure the job over named axes: threads, lanes, sizes, signals, its own options",
                 "a point was not measured, or input is missing from it", bench);
    commands.add("compare", "Measure the legacy build of the job against the per-thread one, in turn",
                 "a point was not measured, a claim does not hold, or results differ", compare);
    commands.add("tune", "Look for the best threads, lanes, sizes and signal for the job, and save them",
                 "nothing was found within --memory, or results differ", tune);
    commands.add("watch", "Do the job once, and say where its time on a GPU goes, and if streams would help",
                 "the run failed or gave a GPU nothing to do, or a claim does not hold", watch);
  } catch (CLI::ConstructionError const& problem) {
    throw Error(ErrorKind::bad_argument, "An option of the job has a name that is taken or not valid: rename it (" +
                                             std::string(problem.what()) + ").");
  }
  return commands.run(count, arguments);
} catch (std::exception const& exception) {
  return cli::complain(exception);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
