// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/try/try_command.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "anyprogram/try/turned_program.hpp"
#include "anyprogram/try/watched_runs.hpp"
#include "anyprogram/whole_programs/whole_output.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/cuda_driver.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/program.hpp"
#include "programs/command/program_file.hpp"
#include "programs/command/results.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;
using Json = nlohmann::ordered_json;

ExitCode fail(std::string const& sentence) {
  tell(sentence);
  return exit_some_failed;
}

Json as_json(preload::TurnCounts const& looked_at, preload::TurnCounts const& turned) {
  auto const calls = [&](preload::Variant variant, std::size_t name) {
    return looked_at.calls[static_cast<std::size_t>(variant)][name].load();
  };
  return {{"processes", looked_at.processes.load()},
          {"look_ups", turned.look_ups.load()},
          {"turned", turned.turned.load()},
          {"calls",
           {{"legacy_default", calls(preload::Variant::legacy, preload::by_zero)},
            {"per_thread_default", calls(preload::Variant::per_thread, preload::by_zero)},
            {"legacy_by_handle", calls(preload::Variant::legacy, preload::by_legacy_handle) +
                                     calls(preload::Variant::per_thread, preload::by_legacy_handle)},
            {"sentence", sentence_on_streams(looked_at)}}}};
}

/// How often a program whose output alone differs is run as it is once more.
constexpr unsigned most_more_looks = 6;

/// True if no call means a default stream that is another one when it is turned. A call that names the per-thread
/// stream itself is the same in both runs.
bool means_no_default_stream(TurnedProgram const& looked_at) {
  return std::ranges::all_of(looked_at.counts().calls, [](auto const& of) {
    return of[preload::by_zero] == 0 && of[preload::by_legacy_handle] == 0;
  });
}

}  // namespace

void TryCommand::add_to(CLI::App& command) {
  command.add_option("PROGRAM", words, "Behind --: the program and its arguments")->required()->type_name("");
  auto& how_often =
      *command.add_option("--repeats", rounds, "How often each of both runs, after once to warm up. Default: 5")
           ->type_name("N")
           ->check(whole_number(1, 1000));
  add_former_option(command, "--rounds", how_often);
  turns.add_to(command);
  command.add_flag("--no-watch", no_watch,
                   "Leave out the two runs that are watched for the GPU's time and for what would lose its order");
  figures.add_to(command, "Print the results as JSON", "each run");
  command.footer(
      "Runs a program that uses CUDA as it is and with per-thread default streams in turn, without building it again,\n"
      "and says how the times differ and if what it prints, writes and returns is the same.");
}

WholeProgram TryCommand::program() const {
  WholeProgram program{.arguments = words, .results = turns.results, .input = turns.input};
  program.arguments.front() = find_loading_program(words.front());
  return program;
}

std::string TryCommand::obstacle(WholeRun const& first, TurnedProgram const& looked_at, TurnedProgram const& turned,
                                 WholeComparison const& compared) const {
  if (!compared.failure().empty()) return compared.failure();
  if (looked_at.counts().look_ups == 0) {
    std::string const no_driver = no_driver_sentence();
    return words.front() + " uses no GPU: no process of it asked the CUDA driver for anything. " +
           (no_driver.empty()
                ? "If it should, see that its arguments make it do so, and that it does not start another "
                  "program without LD_PRELOAD."
                : no_driver) +
           (first.end.code == 0 ? "" : " " + last_words(first.end));
  }
  if (first.end.code != 0 && means_no_default_stream(looked_at)) {
    return words.front() + " fails by itself, as it is, before it gives a default stream any work. " +
           last_words(first.end) + " Let it succeed by itself first.";
  }
  if (turned.counts().turned == 0) {
    return "None of its look-ups of the driver could be turned, so there is nothing to compare. " +
           sentence_on_streams(looked_at.counts());
  }
  return "";
}

void TryCommand::watch(WatchedRuns& watched, InTurn const& in_turn, std::array<ProgramEnd, 2> const& ends,
                       Interrupt const& interrupt) const {
  WholeProgram program = this->program();
  program.results.clear();
  // Its counts are apart from those of the other runs.
  TurnedProgram const turned(TurnedProgram::Mode::turn);
  for (Contender const contender : {Contender::baseline, Contender::candidate}) {
    ProgramEnd const& before = ends[static_cast<std::size_t>(contender)];
    std::chrono::nanoseconds const most = in_turn.left() / 4;
    // A program that hangs only while it is watched does not use more time.
    std::chrono::nanoseconds const longest = std::min(most, 10 * before.wall + std::chrono::seconds(30));
    if (before.wall * 2 > most) {
      watched.remark("There was no time to watch it, which may take half of what is left: raise --within.");
      return;
    }
    auto const run = [&](Environment const& variables) {
      return run_once(program, variables, longest, interrupt.token()).end;
    };
    if (!watched.watch(contender, contender == Contender::candidate ? turned.environment() : Environment(), before,
                       run) ||
        interrupt.requested())
      return;
  }
}

ExitCode TryCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  WholeProgram const program = this->program();
  std::string const date = date_now();
  LinePatterns ignored(turns.ignored);
  FilesToWrite files = turns.files_to_write(figures.page(), interrupt.token());
  TurnedProgram looked_at(TurnedProgram::Mode::look);
  TurnedProgram turned(TurnedProgram::Mode::turn);
  WholeComparison compared("as it is", "with per-thread default streams", turns.results, std::move(ignored));
  WatchedRuns watched;
  std::string failure;
  {
    InTurn in_turn(
        compared, turns, rounds,
        [&](Contender contender, bool timed, std::chrono::nanoseconds longest) {
          Environment environment;
          if (contender == Contender::candidate) {
            environment = turned.environment();
          } else if (!timed) {
            environment = looked_at.environment();
          }
          return run_once(program, environment, longest, interrupt.token());
        },
        interrupt);
    WholeRun const first = in_turn.warm_up(Contender::baseline);
    WholeRun second;
    if (in_turn.going() && looked_at.counts().look_ups > 0) second = in_turn.warm_up(Contender::candidate);
    failure = obstacle(first, looked_at, turned, compared);
    if (failure.empty() && !no_watch && !interrupt.requested()) {
      watch(watched, in_turn, {first.end, second.end}, interrupt);
      watched.tell(compared);
    }
    if (failure.empty() && means_no_default_stream(looked_at)) compared.without_cause(true);
    if (failure.empty()) in_turn.run_rounds();
    if (failure.empty()) in_turn.look_again(most_more_looks);
  }
  if (interrupt.requested()) return say_interrupted();
  if (failure.empty() && !compared.failure().empty()) failure = compared.failure();
  Json all = results_of(compared, "try", date, command_line, failure);
  all["program"] = words;
  all.update(as_json(looked_at.counts(), turned.counts()));
  all["sentences"].push_back(sentence_on_streams(looked_at.counts()));
  all["watched"] = no_watch || !failure.empty() ? Json(nullptr) : watched.as_json();
  for (std::string const& remark : watched.remarks()) all["sentences"].push_back(remark);
  std::string const results = all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (figures.json && !output.write(results)) return exit_some_failed;
  if (OutputFile* const page = files.of("--html"); page != nullptr)
    write_page(*page, with_lines(results, rows_of(compared)), title_of("try"));
  if (!failure.empty()) return fail(failure);
  std::string const text = figures.csv
                               ? csv_of(rows_of(compared))
                               : as_text(compared) + sentence_on_streams(looked_at.counts()) + "\n" + watched.as_text();
  if (!figures.json && !output.write(text)) return exit_some_failed;
  return compared.right().value_or(false) ? exit_ok : exit_some_failed;
}

}  // namespace penstock::cli
