// SPDX-License-Identifier: Apache-2.0
#include "programs/compare/compare_command.hpp"

#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "observe/verdict/trace_text.hpp"
#include "penstock/error.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/program.hpp"
#include "programs/command/progress.hpp"
#include "programs/command/results.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {
namespace {

struct Side {
  Flavour flavour;
  std::string program;

  std::string name() const { return std::string(flavour_name(flavour)); }
  std::string path() const { return sibling_program(program); }
};
/// Both sides, in the order in which they run.
std::array<Side, 2> sides_of(std::string const& program) {
  return {Side{Flavour::legacy, program + "-legacy"}, Side{Flavour::per_thread, program}};
}

/// Throws: Error of kind bad_argument, if one of a job's programs is not there.
void expect_both_programs(std::string const& program) {
  for (Side const& side : sides_of(program)) {
    if (std::filesystem::exists(side.path())) continue;
    throw Error(ErrorKind::bad_argument, side.path() +
                                             " is not there: penstock_add_job makes the programs of both flavours; let "
                                             "them lie in one folder.");
  }
}

ExitCode interrupted(char const* what) {
  tell(std::string("Interrupted: ") + what + ".");
  return exit_interrupted;
}

}  // namespace

void CompareCommand::add_to(CLI::App& command) {
  sweep.add_to(command, {{"producers", "1,2,4"}});
  cases.add_to(command);
  auto& how_often = *command.add_option("--repeats", rounds, "How often each program runs. Default: 5; of a model 3")
                         ->type_name("N")
                         ->check(whole_number(1, 100));
  add_former_option(command, "--rounds", how_often);
  rounds_ = &how_often;
  trace.add_to(command, "one more run of each build, at the point where they differ most,");
  command
      .add_option("--expect", expected,
                  "Exit with 1 unless this holds of the speed-up with the most threads, at every point, as in\n"
                  "'speed_up >= 1.5'")
      ->type_name("CLAIM");
  // A job has options of its own, and is compared with itself.
  if (sweep.axes.job == nullptr) programs.add_to(command);
}

ChildEnd CompareCommand::bench(std::vector<std::string> arguments, std::string const& trace_file,
                               Interrupt const& interrupt) const {
  for (std::string const& argument : trace.arguments(trace_file)) arguments.push_back(argument);
  if (!trace_file.empty()) arguments.emplace_back("--no-trace-cost");
  ChildEnd end = run_child(arguments, interrupt.token());
  // Points that failed are in the results.
  if (end.code != exit_ok && end.code != exit_some_failed && !interrupt.requested()) {
    auto const kind = end.code == exit_bad_options ? ErrorKind::bad_argument : ErrorKind::device_refused;
    throw Error(kind, std::filesystem::path(arguments.front()).filename().string() + " bench: " + complaint_of(end));
  }
  return end;
}

void CompareCommand::measure(Comparison& comparison, RunProgress& progress, Interrupt const& interrupt) {
  auto const sides = sides_of(program);
  for (unsigned round = 0; round < rounds;) {
    auto const all = cases.cases(sweep.axes);
    std::size_t const runs = all.size() * sides.size();
    std::size_t done = runs * round;
    std::vector<std::vector<std::string>> results(sides.size());
    for (SweepCase const& one : all) {
      for (std::size_t i = 0; i < results.size(); ++i) {
        Side const& side = sides[i];
        progress.show(done++, runs * rounds, side.name() + (all.size() > 1 ? ", " + one.name : ""));
        results[i].push_back(
            bench(sweep.one_round(side.path(), one.axes, round + 1, round == 0), "", interrupt).output);
        if (interrupt.requested()) return;
      }
    }
    try {
      std::string late;
      for (auto const& of_program : results) {
        for (std::string const& one : of_program) measure::keep_worst(measure::lateness_in(one), late);
      }
      if (round == 0 && sweep.raise_factor(late)) continue;
      comparison.add(with_cases(all, results[0]), with_cases(all, results[1]));
      ++round;
    } catch (nlohmann::json::exception const& problem) {
      throw Error(ErrorKind::system, unreadable_results(problem));
    }
  }
}

bool CompareCommand::judge(Comparison& comparison, RunProgress& progress, Interrupt const& interrupt) const {
  auto const plainest = comparison.plainest();
  if (!plainest) return true;
  bool could = true;
  auto const all = cases.cases(sweep.axes);
  std::size_t const of_one = comparison.points() / all.size();
  // A program gives the timeline of one point only: so the point at which they differ most comes last, by itself.
  auto others = comparison.measured();
  std::erase(others, *plainest);
  for (auto const& asked : {others, {*plainest}}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<std::size_t> which, of_case;
      for (std::size_t const point : asked) {
        if (point / of_one != i) continue;
        which.push_back(point);
        of_case.push_back(point % of_one);
      }
      for (Side const& side : sides_of(program)) {
        if (which.empty() || interrupt.requested()) break;
        std::size_t const rest = all.size() * sides_of(program).size() * rounds;
        progress.show(rest, rest, side.name() + ", ceilings and latency");
        try {
          std::string const results =
              bench(sweep.judged_round(side.path(), all[i].axes, of_case), "", interrupt).output;
          if (!interrupt.requested()) comparison.judge(side.flavour, in_case(all[i], all.size() > 1, results), which);
        } catch (std::exception const& error) {
          std::string const why = complaint_about(error).sentence;
          comparison.remark(side.flavour, why, which);
          tell(why);
          could = false;
        }
      }
    }
  }
  return could;
}

/// Writes the trace of a point by both, one after the other: the point with the greatest difference.
void CompareCommand::write_trace_of(OutputFile& to, std::span<ScratchFile const> scratch, Comparison const& comparison,
                                    Interrupt const& interrupt) const {
  auto const point = comparison.plainest();
  if (!point) throw Error(ErrorKind::device_refused, "There is no run to write a trace of.");
  auto const all = cases.cases(sweep.axes);
  AxisOptions axes = all[*point / (comparison.points() / all.size())].axes;
  std::string where;
  for (auto const& [name, value] : comparison.values_of(*point)) {
    if (name != case_axis) axes.set(name, value);
    where += (where.empty() ? "" : ", ") + name + " " + axis_value_text(name, value);
  }
  std::vector<std::ifstream> files;
  std::vector<std::string> took;
  for (Side const& side : sides_of(program)) {
    std::string const& file = scratch[files.size()].path();
    std::string said = complaint_of(bench(sweep.one_round(side.path(), axes, 1), file, interrupt));
    if (interrupt.requested()) return;
    // The user knows only the one file.
    if (auto const at = said.find(file); at != std::string::npos) said.replace(at, file.size(), trace.file);
    took.push_back(side.program + ": " + said);
    files.emplace_back(file);
  }
  std::vector<std::istream*> traces;
  for (std::ifstream& file : files) traces.push_back(&file);
  write_trace_file(to, [&](std::ostream& out) {
    join_traces(out, traces, {{"command", sweep.command_line}, {"point", where}});
  });
  for (std::string const& sentence : took) tell(sentence);
  tell(trace.file + " has a run of each" + (where.empty() ? "" : " at " + where) + ".");
}

CompareCommand CompareCommand::suited(std::stop_token const& stop) const {
  CompareCommand here = *this;
  if (!sweep.on_models()) return here;
  if (rounds_ == nullptr || rounds_->empty()) here.rounds = SweepArguments::runs_on_models;
  std::vector<measure::Point> points;
  for (SweepCase const& one : cases.cases(sweep.axes)) {
    auto const some = measure::points_of(one.axes.axes(), one.axes.begin());
    points.insert(points.end(), some.begin(), some.end());
  }
  bool const judges = sweep.figures.json || !sweep.figures.html.empty();
  here.sweep.suit_models(points,
                         {.runs = 2 * here.rounds, .more_runs = judges ? 6U : 0U, .rounds_alone = judges ? 2U : 0U},
                         choose_factor, stop);
  return here;
}

std::optional<Claim> CompareCommand::claim() const {
  if (expected.empty()) return std::nullopt;
  std::string text = expected;
  // In older versions it was a number alone.
  if (text.find_first_not_of("0123456789.e+-") == std::string::npos && !text.starts_with('-')) {
    text = "speed_up >= " + text;
    tell("--expect " + expected + " is now written --expect '" + text + "'; a later version refuses a number alone.");
  }
  constexpr std::array<std::string_view, 1> figures{"speed_up"};
  return Claim(text, figures, "speed_up >= 1.5");
}

ExitCode CompareCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  programs.check();
  std::optional<Claim> const claim = this->claim();
  if (!programs.programs.empty()) {
    return programs.run(
        {.rounds = rounds, .figures = sweep.figures, .expected = claim, .command_line = sweep.command_line}, output,
        interrupt);
  }
  // Impossible values are reported at once.
  for (SweepCase const& one : cases.cases(sweep.axes))
    one.axes.check(measure::points_of(one.axes.axes(), one.axes.begin()));
  if (sweep.axes.job != nullptr) expect_both_programs(program);
  FilesToWrite files = sweep.files_to_write(trace, interrupt.token());
  sweep.axes.remark_on_sizes();
  CompareCommand paced = suited(interrupt.token());
  return paced.compare(claim, files, output, interrupt);
}

ExitCode CompareCommand::compare(std::optional<Claim> const& claim, FilesToWrite& files, StandardOutput& output,
                                 Interrupt const& interrupt) {
  std::string const date = date_now();
  std::vector<ScratchFile> scratch(trace.file.empty() ? 0 : sides_of(program).size());
  sweep.warn_of_foreign_profile(std::nullopt, interrupt.token());
  Comparison comparison(program);
  bool judged = true;
  {
    RunProgress progress(true);
    measure(comparison, progress, interrupt);
    if (interrupt.requested()) return interrupted("no round more was compared");
    if (sweep.figures.json || !sweep.figures.html.empty()) judged = judge(comparison, progress, interrupt);
  }
  if (std::string const doubt = comparison.doubt(); !doubt.empty()) tell(doubt);
  std::string const text = sweep.figures.json  ? comparison.as_json(date, sweep.command_line)
                           : sweep.figures.csv ? comparison.as_csv(date)
                                               : comparison.as_text();
  bool const told = output.write(text);
  if (OutputFile* const page = files.of("--html"); page != nullptr) {
    write_page(*page, sweep.figures.json ? text : comparison.as_json(date, sweep.command_line), title_of("compare"));
  }
  if (OutputFile* const file = files.of("--trace"); file != nullptr && told && !interrupt.requested())
    write_trace_of(*file, scratch, comparison, interrupt);
  bool const held = !claim || comparison.holds(*claim);
  if (!comparison.all_measured()) tell(comparison.what_failed());
  if (!held) tell(claim->broken() + ". " + comparison.sentence());
  if (interrupt.requested()) return interrupted("what was compared until then is above");
  if (!judged) return exit_device;
  return told && held && comparison.all_measured() ? exit_ok : exit_some_failed;
}

}  // namespace penstock::cli
