// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "anyprogram/watched/log.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/standard_output.hpp"

namespace penstock::cli {

/// `penstock watch`: shows what a program asks of the driver, what the device does, and the conclusions.
struct WatchCommand {
  std::vector<std::string> words;  ///< The program and its arguments.
  std::string read;                ///< A log or results to read, instead.
  std::string logs;                ///< A folder that keeps the logs.
  std::string limit = "256MiB";    ///< Maximum size of each log.
  std::string trace;
  std::vector<std::string> expected;
  FigureArguments figures;
  std::string command_line;
  std::string libraries;           ///< Another folder that may have our library, as in companion_library.
  std::vector<NamedFile> inputs;   ///< Files that the program reads: no output may replace them.
  std::vector<NamedFile> outputs;  ///< Files that the program writes: no output of this command may be one.
  /// The message about a program that gave a GPU nothing to do, and the remedy where there is a driver.
  std::string unused = "The program gave a GPU nothing to do, in any of its processes.";
  std::string remedy =
      "If it should, see that its arguments make it do so, and that it does not start another program without "
      "CUDA_INJECTION64_PATH.";

  void add_to(CLI::App& command);
  /// Adds all options except the program.
  void add_options_to(CLI::App& command);
  /// Runs the program, or reads its logs or results, and prints what they show.
  ///
  /// Throws: Error, if it cannot be run or watched, or what is to be read is none.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  /// Facts beside the results.
  struct Watched {
    std::vector<WatchLog> logs = {};
    std::vector<std::string> missing = {};  ///< Same as ReadLogs::missing.
    std::string failure = {};               ///< The failure of the program; empty if it ended well.
  };
  Watched watch(std::uint64_t most_bytes, Interrupt const& interrupt) const;
  nlohmann::ordered_json results(Watched const& watched, std::string const& date) const;
};

}  // namespace penstock::cli
