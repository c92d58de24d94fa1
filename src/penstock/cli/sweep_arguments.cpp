// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/sweep_arguments.hpp"

#include "penstock/cli/named_files.hpp"

namespace penstock::cli {

void SweepArguments::add_to(CLI::App& command, std::map<std::string, std::string> const& presets) {
  axes.add_to(command, presets);
  axes.add_profile_to(command);
  command
      .add_option("--device", device,
                  "auto, cpu, cuda, cuda:N, several of them with commas, or all: every GPU, if there is one")
      ->type_name("NAME");
  command.add_option("--file", file, "What --fill file reads")->type_name("FILE");
  command.add_option("--window", milliseconds, "Milliseconds that count of each run. Default: 200")
      ->type_name("MS")
      ->check(CLI::Range(10U, 60'000U));
  auto& as_data = *command.add_flag("--json", json, "Print JSON, as docs/results.md says");
  command.add_flag("--csv", csv, "Print a line for each point, with commas")->excludes(&as_data);
  command.add_option("--html", html, "Also write a page with charts, timeline and data to this file")
      ->type_name("FILE");
}

std::vector<std::string> SweepArguments::one_round(std::string const& program, AxisOptions const& points,
                                                   unsigned order) const {
  std::vector<std::string> all{program, "bench", "--json"};
  all.insert(all.end(), {"--repeats", "1", "--load", "0", "--no-ceilings", "--no-verdict"});
  all.insert(all.end(), {"--order", std::to_string(order)});
  all.insert(all.end(), {"--device", device, "--window", std::to_string(milliseconds)});
  if (!file.empty()) all.insert(all.end(), {"--file", file});
  for (std::string const& argument : points.arguments()) all.push_back(argument);
  return all;
}

void SweepArguments::check_files(TraceArguments const& trace) const {
  trace.check();
  expect_apart(std::vector<NamedFile>{{"--file", file}, {"--profile", axes.profile.path}},
               std::vector<NamedFile>{{"--html", html}, trace.named()});
}

}  // namespace penstock::cli
