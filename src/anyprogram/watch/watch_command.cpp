// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/watch_command.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <unistd.h>

#include "anyprogram/watch/expectation.hpp"
#include "anyprogram/watch/watch_text.hpp"
#include "anyprogram/watch/watch_timeline.hpp"
#include "anyprogram/watch/watch_trace.hpp"
#include "anyprogram/watched/log_folder.hpp"
#include "anyprogram/watched/process_results.hpp"
#include "penstock/error.hpp"
#include "penstock/observe/recording.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/cuda_driver.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/program.hpp"
#include "programs/command/program_file.hpp"
#include "programs/command/results.hpp"
#include "programs/command/run_program.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

ExitCode complain(std::string const& sentence, ExitCode code) {
  tell(sentence);
  return code;
}

/// Writes a page with a timeline of each process that has a log.
void write_page_of(OutputFile& file, Json results, std::vector<Json> const& rows, std::vector<WatchLog> const& logs) {
  // More passages would make a page above 1 MB.
  constexpr std::size_t most_passages = 15'000;
  auto const with_work = static_cast<std::size_t>(
      std::count_if(logs.begin(), logs.end(), [](WatchLog const& log) { return !log.activities.empty(); }));
  std::size_t const for_each = most_passages / std::max<std::size_t>(1, with_work);
  for (std::size_t i = 0; i < logs.size(); ++i)
    if (!logs[i].activities.empty()) results["processes"][i]["timeline"] = timeline_as_json(logs[i], for_each);
  write_page(file, with_lines(results.dump(-1, ' ', false, Json::error_handler_t::replace), rows), title_of("watch"));
}

}  // namespace

void WatchCommand::add_to(CLI::App& command) {
  command.add_option("PROGRAM", words, "Behind --: the program and its arguments")->type_name("");
  add_options_to(command);
  command.footer(
      "Runs a program that uses CUDA, without building it again, and says where its time goes, what keeps its work "
      "from\n"
      "running at once, and what only the legacy default stream keeps in order. What the program prints goes to\n"
      "standard error.");
}

void WatchCommand::add_options_to(CLI::App& command) {
  command.add_option("--read", read, "Runs nothing, and reads a log, or what --json printed")
      ->type_name("FILE")
      ->check(names_a_file());
  command.add_option("--logs", logs, "A folder in which the log of each process stays")
      ->type_name("FOLDER")
      ->check(names_a_file());
  command
      .add_option("--limit", limit, "How long each log may become; what comes later is counted only. Default: 256MiB")
      ->type_name("SIZE");
  command.add_option("--trace", trace, "Write when each call and each work of the device was, for Perfetto")
      ->type_name("FILE")
      ->check(names_an_output());
  command
      .add_option("--expect", expected,
                  "Exit with 1 unless this holds, as 'overlap > 0.6' or 'hazards <= 0'; may be repeated")
      ->type_name("CLAIM")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  figures.add_to(command, "Print the results as JSON", "each process that used a GPU");
}

WatchCommand::Watched WatchCommand::watch(std::uint64_t most_bytes, Interrupt const& interrupt) const {
  ProgramRun program;
  program.arguments = words;
  program.arguments.front() = find_loading_program(words.front());
  LogFolder const folder(logs);
  program.environment = folder.environment(most_bytes, libraries);
  program.input = STDIN_FILENO;
  // Standard output is for the results.
  program.output = STDERR_FILENO;
  program.complaint = STDERR_FILENO;
  ProgramEnd const end = run_program(program, interrupt.token());
  Watched watched;
  ReadLogs found = folder.read();
  watched.logs = std::move(found.logs);
  watched.missing = std::move(found.missing);
  if (end.signal != 0) {
    watched.failure = words.front() + " was ended by signal " + std::to_string(end.signal) + '.';
  } else if (end.code != 0) {
    watched.failure = words.front() + " ended with exit code " + std::to_string(end.code) + '.';
  }
  return watched;
}

Json WatchCommand::results(Watched const& watched, std::string const& date) const {
  Json processes = Json::array();
  for (WatchLog const& log : watched.logs) processes.push_back(process_as_json(log));
  return {{"schema", 1},
          {"kind", "watch"},
          {"date", date},
          {"command", command_line},
          {"program", words},
          {"failure", or_null(watched.failure)},
          {"missing", watched.missing},
          {"processes", std::move(processes)}};
}

ExitCode WatchCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  if (words.empty() == read.empty())
    throw Error(ErrorKind::bad_argument, "Name a program behind --, or what to read by --read, and not both.");
  std::vector<Expectation> claims(expected.begin(), expected.end());
  std::uint64_t const most_bytes = log_limit(limit);
  std::vector<NamedFile> to_read = inputs;
  if (!read.empty()) to_read.push_back({"--read", read});
  std::array<NamedFile, 2> const to_write{NamedFile{"--trace", trace}, figures.page()};
  std::vector<NamedFile> all_written = outputs;
  all_written.insert(all_written.end(), to_write.begin(), to_write.end());
  expect_apart(to_read, all_written);
  FilesToWrite files(to_read, to_write, interrupt.token());
  Watched watched;
  Json all;
  if (read.empty()) {
    watched = watch(most_bytes, interrupt);
    all = results(watched, date_now());
  } else if (std::optional<Json> written = read_results(read)) {
    all = std::move(*written);
    if (!trace.empty())
      throw Error(ErrorKind::bad_argument, "--trace needs the log of the program, which these results have not.");
  } else {
    watched.logs = {read_log_file(read)};
    all = results(watched, date_now());
  }
  std::string text;
  std::vector<Json> rows;
  std::vector<std::string> complaints;
  ExitCode code = exit_ok;
  try {
    Json const& processes = all.at("processes");
    bool used = false;
    for (Json const& process : processes) {
      if (!process.at("refusal").is_null()) {
        complaints.push_back(
            refusal_text(process.at("refusal").get<std::uint64_t>(), process.at("refusal_code").get<std::uint64_t>()));
        code = exit_device;
        continue;
      }
      if (process.at("works") == 0) continue;
      used = true;
      text += (text.empty() ? "" : "\n") + process_as_text(process);
      rows.push_back(row_of(process));
      for (Expectation const& claim : claims)
        if (std::string const broken = claim.broken_by(process); !broken.empty()) complaints.push_back(broken);
    }
    for (auto const& sentence : all.value("missing", Json::array())) complaints.push_back(sentence.get<std::string>());
    if (!used && code == exit_ok && complaints.empty()) {
      std::string const no_driver = read.empty() ? no_driver_sentence() : "";
      complaints.push_back(unused + " " + (no_driver.empty() ? remedy : no_driver));
    }
  } catch (Json::exception const& problem) {
    throw Error(ErrorKind::bad_argument, read + " is not what penstock watch --json prints: " + problem.what() + ".");
  }
  if (figures.json) text = all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  if (figures.csv) text = csv_of(rows);
  bool const told = output.write(text);
  if (OutputFile* const file = files.of("--trace"); file != nullptr && told)
    write_trace_file(*file, [&](std::ostream& out) { write_watch_trace(out, watched.logs, command_line); });
  if (OutputFile* const file = files.of("--html"); file != nullptr && told)
    write_page_of(*file, all, rows, watched.logs);
  if (interrupt.requested()) return complain("Interrupted: what was watched until then is above.", exit_interrupted);
  if (!watched.failure.empty()) complaints.push_back(watched.failure);
  for (std::string const& complaint : complaints) complain(complaint, exit_some_failed);
  if (code != exit_ok) return code;
  return told && complaints.empty() ? exit_ok : exit_some_failed;
}

}  // namespace penstock::cli
