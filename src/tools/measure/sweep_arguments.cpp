// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/sweep_arguments.hpp"

#include "tools/command/arguments.hpp"
#include "tools/command/ending.hpp"
#include "tools/command/named_files.hpp"
#include "tools/command/program.hpp"

namespace penstock::cli {

void SweepArguments::add_to(CLI::App& command, std::map<std::string, std::string> const& presets) {
  axes.add_to(command, presets);
  axes.add_profile_to(command);
  axes.add_devices_to(command);
  command.add_option("--file", file, "What --fill file reads")->type_name("FILE")->check(names_a_file());
  command.add_option("--window", milliseconds, "Milliseconds that count of each run. Default: 200")
      ->type_name("MS")
      ->check(whole_number(10, 60'000));
  auto& as_data = *command.add_flag("--json", json, "Print JSON, as docs/results.md says");
  command.add_flag("--csv", csv, "Print a line for each point, with commas")->excludes(&as_data);
  command.add_option("--html", html, "Also write a page with charts, timeline and data to this file")
      ->type_name("FILE")
      ->check(names_a_file());
}

std::vector<std::string> SweepArguments::round(std::string const& program, AxisOptions const& points) const {
  std::vector<std::string> all{program, "bench", "--json", "--repeats", "1"};
  all.insert(all.end(), {"--window", std::to_string(milliseconds)});
  if (!file.empty()) all.insert(all.end(), {"--file", file});
  for (std::string const& argument : points.arguments()) all.push_back(argument);
  return all;
}

std::vector<std::string> SweepArguments::one_round(std::string const& program, AxisOptions const& points,
                                                   unsigned order) const {
  auto all = round(program, points);
  all.insert(all.end(), {"--load", "0", "--no-ceilings", "--no-verdict", "--order", std::to_string(order)});
  return all;
}

std::vector<std::string> SweepArguments::judged_round(std::string const& program, AxisOptions const& points,
                                                      std::span<std::size_t const> only) const {
  auto all = round(program, points);
  std::string list;
  for (std::size_t const point : only) list += (list.empty() ? "" : ",") + std::to_string(point);
  all.insert(all.end(), {"--only", list});
  return all;
}

FilesToWrite SweepArguments::files_to_write(TraceArguments const& trace, std::stop_token const& stop) const {
  trace.check();
  return {std::vector<NamedFile>{{"--file", file}, {"--profile", axes.profile.path}},
          std::vector<NamedFile>{{"--html", html}, trace.named()}, stop};
}

void SweepArguments::warn_of_foreign_profile(std::optional<Flavour> flavour, std::stop_token const& stop) const {
  if (!axes.profile.profile) return;
  ChildEnd const end =
      run_child({this_program(), "bench", "--json", "--no-points", "--device", axes.devices.front()}, stop);
  if (end.code != exit_ok) return;  // The process that measures will say why.
  ProfiledMachine here = machine_of_results(end.output);
  if (flavour) here.flavour = flavour_name(*flavour);
  axes.profile.warn(here);
}

}  // namespace penstock::cli
