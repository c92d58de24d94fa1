// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/in_turn.hpp"

#include <algorithm>
#include <utility>

#include "anyprogram/whole_programs/whole_output.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/program.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {

std::vector<CLI::Option*> InTurnArguments::add_to(CLI::App& command) {
  return {command
              .add_option("--within", within,
                          "No round begins after so many seconds, and a run that is not over is ended. Default: 600")
              ->type_name("SECONDS")
              ->check(number_above_zero("a number of seconds", "60")),
          command
              .add_option("--result", results,
                          "A file or folder that the program writes, to be compared between runs; may be repeated")
              ->type_name("PATH")
              ->expected(1)
              ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
              ->check(names_a_file()),
          command
              .add_option("--ignore", ignored,
                          "Lines of standard output that are not compared: an extended regular expression, as of grep "
                          "-E, that is\nfound in them; may be repeated")
              ->type_name("PATTERN")
              ->expected(1)
              ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll),
          command.add_option("--input", input, "The file for the program's standard input, which is empty otherwise")
              ->type_name("FILE")
              ->check(names_a_file())};
}

FilesToWrite InTurnArguments::files_to_write(NamedFile const& page, std::stop_token const& stop) const {
  std::vector<NamedFile> read{{"--input", input}};
  for (std::string const& result : results) read.push_back({"--result", result});
  return {read, std::span(&page, 1), stop};
}

ExitCode say_interrupted() {
  tell("Interrupted: no round more was run.");
  return exit_interrupted;
}

InTurn::InTurn(WholeComparison& compared, InTurnArguments const& arguments, unsigned rounds, RunOne run_one,
               Interrupt const& interrupt)
    : compared_(compared),
      rounds_(rounds),
      run_one_(std::move(run_one)),
      interrupt_(interrupt),
      end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(std::min(arguments.within, 1e9)))) {}

std::chrono::nanoseconds InTurn::left() const {
  return std::max<Clock::duration>(end_ - Clock::now(), std::chrono::milliseconds(1));
}

WholeRun InTurn::run(Contender contender, bool timed) {
  progress_.show(done_++, std::size_t{2} * rounds_ + 2, compared_.name(contender));
  WholeRun run = run_one_(contender, timed, left());
  // A run that did not end in time is dropped if there are complete rounds before it.
  bool const counts = !run.end.overtime || compared_.rounds() == 0;
  if (!interrupt_.requested() && counts) compared_.add(contender, run, timed);
  return run;
}

WholeRun InTurn::warm_up(Contender contender) {
  return run(contender, false);
}

void InTurn::run_rounds() {
  for (unsigned round = 0; going() && round < rounds_; ++round) {
    if (round > 0 && Clock::now() >= end_) return;
    for (unsigned turn = 0; going() && turn < 2; ++turn) {
      bool const first = (round + turn) % 2 == 0;
      if (run(first ? Contender::baseline : Contender::candidate, true).end.overtime) return;
    }
  }
}

void InTurn::look_again(unsigned most) {
  for (unsigned run = 0; run < most && going() && compared_.only_output_differs() && Clock::now() < end_; ++run) {
    progress_.show(done_, done_ + 1, compared_.name(Contender::baseline) + ", once more");
    WholeRun const more = run_one_(Contender::baseline, true, left());
    if (interrupt_.requested() || more.end.overtime || more.end.signal != 0) return;
    compared_.add(Contender::baseline, more, false);
  }
}

nlohmann::ordered_json results_of(WholeComparison const& compared, std::string const& kind, std::string const& date,
                                  std::string const& command_line, std::string const& error) {
  nlohmann::ordered_json json{{"schema", 1}, {"kind", kind}, {"date", date}, {"command", command_line}};
  json.update(as_members(compared));
  json["error"] = or_null(error);
  return json;
}

}  // namespace penstock::cli
