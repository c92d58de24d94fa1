// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/sweep_arguments.hpp"

namespace penstock::cli {

void SweepArguments::add_to(CLI::App& command, std::map<std::string, std::string> const& presets) {
  axes.add_to(command, presets);
  axes.add_profile_to(command);
  command.add_option("--device", device, "auto, cpu, cuda or cuda:N")->type_name("NAME");
  command.add_option("--file", file, "What --fill file reads")->type_name("FILE");
  command.add_option("--window", milliseconds, "Milliseconds that count of each run. Default: 200")
      ->type_name("MS")
      ->check(CLI::Range(10U, 60'000U));
  auto& as_data = *command.add_flag("--json", json, "Print JSON, as docs/results.md says");
  command.add_flag("--csv", csv, "Print a line for each point, with commas")->excludes(&as_data);
  command.add_option("--html", html, "Also write a page with charts, timeline and data to this file")
      ->type_name("FILE");
}

}  // namespace penstock::cli
