// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "penstock/devices.hpp"
#include "tools/bench/bench_command.hpp"
#include "tools/command/ending.hpp"
#include "tools/command/manual.hpp"
#include "tools/command/program.hpp"
#include "tools/command/standard_output.hpp"
#include "tools/compare/compare_command.hpp"
#include "tools/doctor/doctor_command.hpp"
#include "tools/hash/hash_command.hpp"
#include "tools/lab/lab_command.hpp"
#include "tools/try/try_command.hpp"
#include "tools/tune/tune_command.hpp"
#include "tools/watch/watch_command.hpp"

namespace {

using namespace penstock::cli;

/// Takes standard descriptors that are closed, for reading where programs write and for writing where they read:
/// otherwise the next thing to be opened would get the number, and pass for standard input or output.
void take_closed_descriptors() {
  for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // The system gives out the lowest free number.
    static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

int complain(std::string const& sentence, int code) {
  std::fprintf(stderr, "penstock: %s\n", sentence.c_str());
  return code;
}

struct Subcommand {
  CLI::App* app;
  std::function<ExitCode(StandardOutput&, Interrupt const&)> run;
};

/// `command` is the object of the command, which outlives this.
template <class Command>
Subcommand subcommand(CLI::App& all, char const* name, char const* sentence, Command& command) {
  CLI::App& app = *all.add_subcommand(name, sentence);
  command.add_to(app);
  return {&app, [&command](auto& output, auto const& interrupt) { return command.run(output, interrupt); }};
}

/// Each code with what it means.
std::string exit_codes_text() {
  constexpr std::size_t indent = 7, columns = 110;
  std::string text = "Exit codes:\n";
  for (ExitMeaning const& one : exit_meanings) {
    std::string lines = wrapped(one.words, indent, columns);
    std::string const code = std::to_string(one.code);
    text += lines.replace(2, code.size(), code);
  }
  text.pop_back();
  return text;
}

int complain(std::exception const& exception) {
  Complaint const complaint = complaint_about(exception);
  return complain(complaint.sentence, complaint.code);
}

/// Listens to signals while the command runs.
int run(Subcommand const& command, StandardOutput& output) {
  if (!output.probe()) return exit_some_failed;
  Interrupt const interrupt(output);
  try {
    return command.run(output, interrupt);
  } catch (std::exception const& exception) {
    int const code = complain(exception);
    return interrupt.requested() && code == exit_device ? exit_interrupted : code;
  }
}

}  // namespace

int main(int count, char** arguments) try {
  take_closed_descriptors();
  // A file that may grow no further is an error of the write then, which is said.
  std::signal(SIGXFSZ, SIG_IGN);
  StandardOutput output;
  std::string const name = penstock::flavour() == penstock::Flavour::legacy ? "penstock-legacy" : "penstock";
  CLI::App app("Feeds a GPU, or the CPU in its place, from many threads.", name);
  app.set_version_flag("--version", build_text(PENSTOCK_VERSION, penstock::flavour(), penstock::built_with_cuda()));
  app.require_subcommand(1);
  app.footer(exit_codes_text());
  app.add_option_function<std::string>("--write-manual",
                                       [&app](std::string const& folder) {
                                         write_manual(app, folder);
                                         throw CLI::Success();
                                       })
      ->group("");

  HashCommand hash;
  DoctorCommand doctor;
  LabCommand lab;
  BenchCommand bench;
  CompareCommand compare;
  TuneCommand tune;
  TryCommand tried;
  WatchCommand watch;
  bench.sweep.command_line = compare.sweep.command_line = tune.command_line = tried.command_line =
      command_text(count, arguments);
  watch.command_line = tune.command_line;
  std::vector<Subcommand> const commands{
      subcommand(app, "hash", "Print the BLAKE3 hash of files, as b3sum does", hash),
      subcommand(app, "doctor", "Say what this machine is and what would hold a pipeline back", doctor),
      subcommand(app, "lab", "Try out how streams order and overlap what a device does", lab),
      subcommand(app, "bench", "Measure pipelines over named axes: threads, lanes, sizes, signals", bench),
      subcommand(app, "compare", "Measure the legacy build against the per-thread one, in turn", compare),
      subcommand(app, "tune", "Look for the best threads, lanes, sizes and signal for a job, and save them", tune),
      subcommand(app, "try", "Run any CUDA program as it is and with per-thread default streams, in turn", tried),
      subcommand(app, "watch", "Say where the time of any CUDA program goes, and if streams would help", watch)};
  auto const asked_for = [&] {
    return std::find_if(commands.begin(), commands.end(), [](Subcommand const& one) { return one.app->parsed(); });
  };
  try {
    app.parse(count, arguments);
  } catch (CLI::ParseError const& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream help;
      app.exit(error, help, help);
      return output.write(help.str()) ? exit_ok : complain(output.complaint(), exit_some_failed);
    }
    auto const unknown = app.remaining();
    auto const command = asked_for();
    bool const known = command != commands.end();
    std::string const sentence =
        !known && !unknown.empty() ? "There is no command '" + unknown.front() + "'" : error.what();
    return complain(
        sentence + " (" + name + ' ' + (known ? command->app->get_name() + ' ' : "") + "--help shows what there is)",
        exit_bad_options);
  }
  int code = run(*asked_for(), output);
  if (output.failed() && !(output.given_up() && code == exit_interrupted))
    code = complain(output.complaint(), exit_some_failed);
  // A driver that starts cannot be told to stop. It is not needed, and nothing of ours may end beside it.
  if (hash.leaves_device_starting()) std::_Exit(code);
  return code;
} catch (std::exception const& exception) {
  return complain(exception);
}
