// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/compare_command.hpp"

#include <cstdio>
#include <fstream>
#include <vector>

#include "penstock/cli/bench_output.hpp"
#include "penstock/cli/page_file.hpp"
#include "penstock/cli/pipeline_arguments.hpp"
#include "penstock/cli/run_progress.hpp"
#include "penstock/cli/scratch_folder.hpp"
#include "penstock/cli/text_table.hpp"
#include "penstock/core/error.hpp"
#include "penstock/report/join_traces.hpp"

namespace penstock::cli {
void CompareCommand::add_to(CLI::App& command) {
  // As a thread does that names no stream: all it does is in its default stream, and it has one lane.
  sweep.add_to(command, {{"threads", "1,2,4"},
                         {"lanes", "threads"},
                         {"shape", "single"},
                         {"transport", "copies"},
                         {"signal", "event_poll"},
                         {"sink", "lanes"},
                         {"batch", "1"}});
  command.add_option("--rounds", rounds, "How often each program runs. Default: 5")
      ->type_name("N")
      ->check(CLI::Range(1U, 100U));
  trace.add_to(command, "one more run of each build, at the point where they differ most,");
  command
      .add_option("--expect", expected,
                  "Exit with 1 unless with the most threads per-thread is that many times as fast, at every point")
      ->type_name("TIMES")
      ->check(CLI::PositiveNumber & no_nan());
}

ChildEnd CompareCommand::bench(std::string const& program, AxisOptions const& axes, unsigned round,
                               std::string const& trace_file, Interrupt const& interrupt) const {
  auto arguments = sweep.one_round(sibling_program(program), axes, round + 1);
  for (std::string const& argument : trace.arguments(trace_file)) arguments.push_back(argument);
  if (!trace_file.empty()) arguments.emplace_back("--no-trace-cost");
  ChildEnd end = run_child(arguments, interrupt.token());
  // Points that failed are in the results.
  if (end.code != exit_ok && end.code != exit_some_failed && !interrupt.requested()) {
    auto const kind = end.code == exit_bad_options ? ErrorKind::bad_argument : ErrorKind::device_refused;
    throw Error(kind, program + " bench: " + complaint_of(end));
  }
  return end;
}

/// The same point by both, one after the other, at which the difference is greatest.
void CompareCommand::write_trace_of(Comparison const& comparison, Interrupt const& interrupt) const {
  auto const point = comparison.plainest();
  if (!point) throw Error(ErrorKind::device_refused, "There is no run to write a trace of.");
  AxisOptions axes = sweep.axes;
  std::string where;
  for (auto const& [name, value] : *point) {
    axes.lists[name] = value;
    where += (where.empty() ? "" : ", ") + name + " " + axis_value_text(name, value);
  }
  ScratchFolder const folder;
  std::vector<std::ifstream> files;
  std::string took;
  for (std::string const program : {"penstock-legacy", "penstock"}) {
    std::string const file = folder.file(program);
    std::string said = complaint_of(bench(program, axes, 0, file, interrupt));
    if (interrupt.requested()) return;
    // The user knows of one file.
    if (auto const at = said.find(file); at != std::string::npos) said.replace(at, file.size(), trace.file);
    took.append("penstock: ").append(program).append(": ").append(said).append("\n");
    files.emplace_back(file);
  }
  std::vector<std::istream*> traces;
  for (std::ifstream& file : files) traces.push_back(&file);
  write_trace_file(trace.file, [&](std::ostream& out) {
    join_traces(out, traces, {{"command", sweep.command_line}, {"point", where}});
  });
  std::fprintf(stderr, "%spenstock: %s has a run of each%s%s.\n", took.c_str(), trace.file.c_str(),
               where.empty() ? "" : " at ", where.c_str());
}

ExitCode CompareCommand::run() const {
  static_cast<void>(sweep.axes.axes());  // What cannot be, is said at once.
  std::string const date = date_now();
  sweep.check_files(trace);
  Interrupt const interrupt;
  Comparison comparison;
  std::string legacy;
  {
    RunProgress progress(true);
    for (unsigned round = 0; round < rounds; ++round) {
      progress.show(std::size_t{2} * round, std::size_t{2} * rounds, "legacy");
      legacy = bench("penstock-legacy", sweep.axes, round, "", interrupt).output;
      if (interrupt.requested()) break;
      progress.show(std::size_t{2} * round + 1, std::size_t{2} * rounds, "per-thread");
      std::string const per_thread = bench("penstock", sweep.axes, round, "", interrupt).output;
      if (interrupt.requested()) break;
      comparison.add(legacy, per_thread);
    }
  }
  if (interrupt.requested()) {
    std::fputs("penstock: Interrupted: no round more was compared.\n", stderr);
    return exit_interrupted;
  }
  sweep.axes.profile.warn(machine_of_results(legacy));
  std::string const text = sweep.json  ? comparison.as_json(date, sweep.command_line)
                           : sweep.csv ? comparison.as_csv()
                                       : comparison.as_text();
  std::fputs(text.c_str(), stdout);
  if (!sweep.html.empty()) {
    write_page(sweep.html, sweep.json ? text : comparison.as_json(date, sweep.command_line), "penstock compare");
  }
  if (!trace.file.empty()) write_trace_of(comparison, interrupt);
  bool const held = !expected || comparison.holds(*expected);
  if (!comparison.all_measured()) std::fprintf(stderr, "penstock: %s\n", comparison.what_failed().c_str());
  if (!held)
    std::fprintf(stderr, "penstock: --expect %g does not hold. %s\n", *expected, comparison.sentence().c_str());
  return held && comparison.all_measured() ? exit_ok : exit_some_failed;
}

}  // namespace penstock::cli
