// SPDX-License-Identifier: Apache-2.0
#include "programs/compare/compare_programs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "anyprogram/whole_programs/whole_output.hpp"
#include "penstock/error.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/program.hpp"
#include "programs/command/program_file.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/meter.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {
namespace {

constexpr std::array<std::string_view, 7> shared_options{"rounds", "repeats", "json", "csv", "html", "expect", "help"};

bool is_shared(CLI::Option const& option) {
  auto const& names = option.get_lnames();
  return std::any_of(names.begin(), names.end(), [](std::string const& name) {
    return std::find(shared_options.begin(), shared_options.end(), name) != shared_options.end();
  });
}

}  // namespace

void ProgramsToCompare::add_to(CLI::App& command) {
  for (CLI::Option const* const other : command.get_options()) {
    if (!is_shared(*other)) others_.push_back(other);
  }
  command.add_option("--programs", programs, "Compare two programs of yours; the first is the baseline")
      ->expected(2)
      ->type_name("A B");
  mine_.push_back(
      command.add_option("ARGUMENTS", words, "After --: the arguments of both programs of --programs")->type_name(""));
  for (CLI::Option const* const one : turns.add_to(command)) mine_.push_back(one);
}

void ProgramsToCompare::check() const {
  for (CLI::Option const* const option : programs.empty() ? mine_ : others_) {
    if (option->count() == 0) continue;
    throw Error(ErrorKind::bad_argument,
                option->get_name() + (programs.empty() ? " needs --programs: name the two programs."
                                                       : " is for penstock's own work and cannot be combined with "
                                                         "--programs: leave one of the two out."));
  }
}

ExitCode ProgramsToCompare::run(Asked const& asked, StandardOutput& output, Interrupt const& interrupt) const {
  std::array<WholeProgram, 2> both;
  for (std::size_t i = 0; i < both.size(); ++i) {
    both[i] = {.arguments = words, .results = turns.results, .input = turns.input};
    both[i].arguments.insert(both[i].arguments.begin(), find_program(programs[i]).path);
  }
  std::string const date = date_now();
  LinePatterns ignored(turns.ignored);
  FilesToWrite files = turns.files_to_write(asked.figures.page(), interrupt.token());
  WholeComparison compared("with " + programs[0], "with " + programs[1], turns.results, std::move(ignored));
  {
    InTurn in_turn(
        compared, turns, asked.rounds,
        [&](Contender contender, bool /*timed*/, std::chrono::nanoseconds longest) {
          return run_once(both[static_cast<std::size_t>(contender)], {}, longest, interrupt.token());
        },
        interrupt);
    for (Contender const contender : {Contender::baseline, Contender::candidate}) {
      if (in_turn.going()) in_turn.warm_up(contender);
    }
    in_turn.run_rounds();
  }
  if (interrupt.requested()) return say_interrupted();
  std::string const& failure = compared.failure();
  nlohmann::ordered_json all = results_of(compared, "compare programs", date, asked.command_line, failure);
  all["programs"] = programs;
  all["arguments"] = words;
  std::string const results = all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  bool const told = output.write(asked.figures.json  ? results
                                 : !failure.empty()  ? ""
                                 : asked.figures.csv ? csv_of(rows_of(compared))
                                                     : as_text(compared));
  if (OutputFile* const page = files.of("--html"); page != nullptr)
    write_page(*page, with_lines(results, rows_of(compared)), title_of("compare"));
  if (!failure.empty()) {
    tell(failure);
    return exit_some_failed;
  }
  bool const held = !asked.expected || asked.expected->holds(measure::spread_of(compared.ratios()).median);
  if (!held) tell(asked.expected->broken() + ". " + compared.effect_sentence());
  return told && held && compared.right().value_or(false) ? exit_ok : exit_some_failed;
}

}  // namespace penstock::cli
