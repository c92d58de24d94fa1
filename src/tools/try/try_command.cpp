// SPDX-License-Identifier: Apache-2.0
#include "tools/try/try_command.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <utility>

#include <nlohmann/json.hpp>

#include "penstock/error.hpp"
#include "tools/command/arguments.hpp"
#include "tools/command/program_file.hpp"
#include "tools/command/progress.hpp"
#include "tools/command/results.hpp"
#include "tools/programs/whole_output.hpp"
#include "tools/try/turned_program.hpp"

namespace penstock::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

/// What the system keeps our library out of is refused before anything runs.
std::string reachable_program(std::string const& name) {
  ProgramFile const file = find_program(name);
  char const* why = nullptr;
  if (file.takes_rights) {
    why =
        " is set-uid or set-gid or has capabilities, so the system loads no library of ours into it: try a copy "
        "without these rights.";
  } else if (file.kind == ProgramKind::linked_whole) {
    why =
        " has all its libraries in itself (it is linked with -static), so nothing can be put between it and the "
        "driver: link it with the C library as it is shared.";
  } else if (file.kind == ProgramKind::foreign) {
    why = " is for another kind of processor or of 32 bits: build it for this one.";
  }
  if (why != nullptr) throw Error(ErrorKind::bad_argument, file.path + why);
  return file.path;
}

ExitCode fail(std::string const& sentence) {
  std::fprintf(stderr, "penstock: %s\n", sentence.c_str());
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

}  // namespace

void TryCommand::add_to(CLI::App& command) {
  command.add_option("PROGRAM", words, "Behind --: the program and its arguments")->required()->type_name("");
  command.add_option("--rounds", rounds, "How often each of both runs, after once to warm up. Default: 5")
      ->type_name("N")
      ->check(whole_number(1, 1000));
  command
      .add_option("--within", within,
                  "No round begins after so many seconds, and what still runs is ended. Default: 600")
      ->type_name("SECONDS")
      ->check(number_above_zero("a number of seconds", "60"));
  command.add_option("--result", results, "A file or folder that it writes and that must be the same; may be repeated")
      ->type_name("PATH")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(names_a_file());
  command.add_option("--input", input, "A file that it reads as its standard input, which is empty otherwise")
      ->type_name("FILE")
      ->check(names_a_file());
  command.add_flag("--json", json, "Print the results as JSON");
  command.footer(
      "Runs a program that uses CUDA as it is and with per-thread default streams in turn, without building it again,\n"
      "and says how the times differ and if what it prints, writes and returns is the same. Exit code 1 if it is not,\n"
      "or if it cannot be told.");
}

WholeProgram TryCommand::program() const {
  WholeProgram program{.arguments = words, .results = results, .input = input};
  program.arguments.front() = reachable_program(words.front());
  return program;
}

std::string TryCommand::obstacle(WholeRun const& first, TurnedProgram const& looked_at, TurnedProgram const& turned,
                                 WholeComparison const& compared) const {
  if (!compared.failure().empty()) return "It cannot be compared. " + compared.failure();
  if (looked_at.counts().look_ups == 0) {
    return words.front() +
           " uses no GPU: no process of it asked the CUDA driver for anything. If it should, see that its arguments "
           "make "
           "it do so, and that it does not start another program without LD_PRELOAD." +
           (first.end.code == 0 ? "" : " " + last_words(first.end));
  }
  if (turned.counts().turned == 0) {
    return "None of its look-ups of the driver could be turned, so there is nothing to compare. " +
           sentence_on_streams(looked_at.counts());
  }
  return "";
}

ExitCode TryCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  WholeProgram const program = this->program();
  std::string const date = date_now();
  auto const end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(within));
  TurnedProgram looked_at(TurnedProgram::Order::look);
  TurnedProgram turned(TurnedProgram::Order::turn);
  WholeComparison compared("as it is", "with per-thread default streams", results);
  std::vector<std::pair<std::string, std::string>> const plain;
  WholeRun first;
  std::string failure;
  {
    RunProgress progress(true);
    std::size_t done = 0;
    auto const run_one = [&](Contender who, std::vector<std::pair<std::string, std::string>> const& environment,
                             bool timed) {
      progress.show(done++, std::size_t{2} * rounds + 2, compared.name(who));
      auto const left = std::max<Clock::duration>(end - Clock::now(), std::chrono::milliseconds(1));
      WholeRun run = run_once(program, environment, left, interrupt.token());
      if (!interrupt.requested()) compared.add(who, run, timed);
      if (!timed && who == Contender::baseline) first = std::move(run);
      return compared.failure().empty() && !interrupt.requested();
    };
    bool going = run_one(Contender::baseline, looked_at.environment(), false);
    if (going && looked_at.counts().look_ups > 0) {
      going = run_one(Contender::candidate, turned.environment(), false);
    }
    failure = obstacle(first, looked_at, turned, compared);
    for (unsigned round = 0; going && failure.empty() && round < rounds; ++round) {
      if (round > 0 && Clock::now() >= end) break;
      // Which of both comes first changes from round to round.
      for (unsigned turn = 0; going && turn < 2; ++turn) {
        bool const as_it_is = (round + turn) % 2 == 0;
        going = as_it_is ? run_one(Contender::baseline, plain, true)
                         : run_one(Contender::candidate, turned.environment(), true);
      }
    }
    // A run that took longer than there is time for is none, if there were rounds before.
    if (failure.empty() && !compared.failure().empty() && compared.rounds() == 0)
      failure = "It cannot be compared. " + compared.failure();
  }
  if (interrupt.requested()) {
    std::fprintf(stderr, "penstock: Interrupted: no round more was run.\n");
    return exit_interrupted;
  }
  if (json) {
    Json all{{"kind", "try"}, {"date", date}, {"command", command_line}, {"program", words}};
    all.update(as_members(compared));
    all.update(as_json(looked_at.counts(), turned.counts()));
    all["error"] = or_null(failure);
    if (!output.write(all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n")) return exit_some_failed;
  }
  if (!failure.empty()) return fail(failure);
  if (!json && !output.write(as_text(compared) + sentence_on_streams(looked_at.counts()) + "\n"))
    return exit_some_failed;
  return compared.right().value_or(false) ? exit_ok : exit_some_failed;
}

}  // namespace penstock::cli
