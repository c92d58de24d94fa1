// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "anyprogram/whole_programs/whole_comparison.hpp"
#include "anyprogram/whole_programs/whole_run.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/progress.hpp"

namespace penstock::cli {

/// The options of commands that compare whole programs, except the number of rounds.
struct InTurnArguments {
  std::vector<std::string> results;
  std::vector<std::string> ignored;  ///< As LinePatterns takes them.
  std::string input;
  double within = 600;  ///< Seconds.

  /// Returns: the options that it added.
  std::vector<CLI::Option*> add_to(CLI::App& command);
  /// The page that the command writes, which must be none of what these options name.
  ///
  /// Throws: as FilesToWrite.
  FilesToWrite files_to_write(NamedFile const& page, std::stop_token const& stop) const;
};

/// Says on standard error that the command was interrupted.
///
/// Returns: the exit code for that.
ExitCode say_interrupted();

/// Runs two whole programs alternately, until all rounds are done, the time is over, one of them fails, or a signal
/// interrupts.
///
/// Threads: one.
class InTurn {
 public:
  /// Runs one of the two, for at most `longest`. `timed` is false for a warm-up.
  using RunOne = std::function<WholeRun(Contender contender, bool timed, std::chrono::nanoseconds longest)>;

  InTurn(WholeComparison& compared, InTurnArguments const& arguments, unsigned rounds, RunOne run_one,
         Interrupt const& interrupt);

  /// Runs one of the two once. Its results are compared; its time does not count.
  ///
  /// Throws:  as run_once.
  WholeRun warm_up(Contender contender);
  /// Runs both once in each round. Their order changes from round to round.
  ///
  /// Throws: as run_once.
  void run_rounds();
  /// Runs the baseline up to `most` times more, while the candidate is not right for its output alone: a program may
  /// print another thing now and then. Their times do not count.
  ///
  /// Throws: as run_once.
  void look_again(unsigned most);
  /// Rest of the time; at least a moment.
  std::chrono::nanoseconds left() const;
  /// False once a run failed or a signal interrupted.
  bool going() const { return compared_.failure().empty() && !interrupt_.requested(); }

 private:
  WholeRun run(Contender contender, bool timed);

  using Clock = std::chrono::steady_clock;
  WholeComparison& compared_;
  unsigned const rounds_;
  RunOne const run_one_;
  Interrupt const& interrupt_;
  Clock::time_point const end_;
  RunProgress progress_{true};
  std::size_t done_ = 0;
};

/// The results of a command that compares whole programs, as docs/commands/try.md describes them.
nlohmann::ordered_json results_of(WholeComparison const& compared, std::string const& kind, std::string const& date,
                                  std::string const& command_line, std::string const& error);

}  // namespace penstock::cli
