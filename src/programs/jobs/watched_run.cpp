// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/watched_run.hpp"

#include <utility>

#include "penstock/error.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

WatchedRun::WatchedRun(Job const& job, std::string command_line, std::string libraries) : asked_{.job = job} {
  watch_.command_line = std::move(command_line);
  watch_.libraries = std::move(libraries);
  watch_.unused = "The run gave a GPU nothing to do.";
  watch_.remedy = "If it should, name a GPU with --device cuda, in a build of penstock that has CUDA in it.";
}

void WatchedRun::add_to(CLI::App& command) {
  watch_.add_options_to(command);
  // The footer explains how counts and sizes are written, and precedes this one.
  command.footer(
      "Does what `run` does, and says where its time goes, what keeps its work from running at once, and what only "
      "the\n"
      "legacy default stream keeps in order. What the run prints goes to standard error.");
  auto const of_watch = command.get_options().size();
  asked_.add_settings_to(command);
  auto const all = command.get_options();
  for (std::size_t i = of_watch; i < all.size(); ++i) {
    all[i]->group("Options of the run");
    of_run_.push_back(all[i]);
  }
}

std::vector<std::string> WatchedRun::settings() const {
  std::vector<std::string> words;
  for (CLI::Option const* const option : of_run_) {
    if (option->count() == 0) continue;
    std::string const name = "--" + option->get_lnames().front();
    if (option->get_items_expected_max() == 0) {
      words.push_back(name);
      continue;
    }
    // A value may look like an option.
    for (std::string const& value : option->results()) words.emplace_back(name).append("=").append(value);
  }
  return words;
}

ExitCode WatchedRun::run(StandardOutput& output, Interrupt const& interrupt) {
  auto const words = settings();
  if (!watch_.read.empty()) {
    if (!words.empty())
      throw Error(ErrorKind::bad_argument, "--read runs nothing: leave out " + words.front() + ", or --read.");
    return watch_.run(output, interrupt);
  }
  // Impossible settings are reported before anything runs.
  static_cast<void>(asked_.setting());
  watch_.inputs = asked_.inputs();
  watch_.outputs = asked_.outputs();
  watch_.words = {this_program(), "run"};
  watch_.words.insert(watch_.words.end(), words.begin(), words.end());
  return watch_.run(output, interrupt);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
