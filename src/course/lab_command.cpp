// SPDX-License-Identifier: Apache-2.0
#include "course/lab_command.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "course/experiment.hpp"
#include "course/figures_text.hpp"
#include "course/lab_record.hpp"
#include "course/laboratory.hpp"
#include "course/sources.hpp"
#include "course/timeline.hpp"
#include "engine/core/too_slow.hpp"
#include "observe/verdict/trace_text.hpp"
#include "penstock/observe/recording.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/completion.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/help_text.hpp"
#include "programs/command/program.hpp"
#include "programs/command/results.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t usual_columns = 80;

}  // namespace

std::string as_text(LabPlace const& place) {
  return wrapped(device_text(place.device) + "; stream 0 is " + place.flavour + " unless an experiment says otherwise",
                 0, usual_columns);
}

std::string as_text(lab::Experiment const& experiment, std::size_t columns) {
  return std::string(experiment.name) + "\n" + wrapped(experiment.expectation, indent, columns);
}

std::string as_text(lab::Experiment const& experiment, lab::Observation const& seen, std::size_t columns) {
  std::string text = as_text(experiment, columns) + "\n";
  for (std::string const& line : lab::draw(lab::with_engines(seen.intervals), columns - indent)) {
    text += std::string(indent, ' ') + line + "\n";
  }
  if (!seen.intervals.empty()) text += "\n";
  text += lab::figures_text(seen.figures, indent, columns);
  text += wrapped((seen.verdict.as_expected ? "As expected: "
                   : seen.verdict.late      ? "CANNOT be told: "
                                            : "NOT as expected: ") +
                      seen.verdict.fact + ".",
                  indent, columns);
  return text + wrapped(experiment.why, indent, columns);
}

std::string as_json(LabPlace const& place, lab::Experiment const& experiment, lab::Observation const& seen) {
  using Json = nlohmann::ordered_json;
  Json intervals = Json::array();
  for (lab::Interval const& interval : seen.intervals) {
    intervals.push_back({{"row", interval.row},
                         {"label", interval.label},
                         {"start_ns", interval.start.count()},
                         {"end_ns", interval.end.count()}});
  }
  Json figures = Json::array();
  for (lab::Figure const& figure : seen.figures) {
    Json one{{"what", figure.what}, {"value", figure.value}, {"unit", figure.unit}};
    if (figure.text) one["text"] = *figure.text;
    if (figure.possible) one["possible"] = *figure.possible;
    if (!figure.bound.empty()) one["bound"] = figure.bound;
    for (auto const& [heading, content] : figure.beside) one["beside"][heading] = content;
    figures.push_back(std::move(one));
  }
  Json const json{{"schema", 1},
                  {"kind", "lab"},
                  {"name", experiment.name},
                  {"device", place.device.name},
                  {"model", or_null(place.device.model)},
                  {"slower", slower_or_null(place.device.model)},
                  {"flavour", place.flavour},
                  {"expectation", experiment.expectation},
                  {"intervals", intervals},
                  {"figures", figures},
                  {"as_expected", seen.verdict.as_expected},
                  {"late", seen.verdict.late},
                  {"fact", seen.verdict.fact},
                  {"why", experiment.why}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_text(std::size_t as_expected, std::size_t all, std::size_t late) {
  std::string const of_all = " of " + std::to_string(all);
  if (as_expected == all) return std::to_string(all) + of_all + " went as expected\n";
  std::size_t const others = all - as_expected - late;
  std::string const not_told = std::to_string(late) + of_all + " could not be told";
  if (others == 0) return not_told + "\n";
  return std::to_string(others) + of_all + " did NOT go as expected" + (late > 0 ? ", " + not_told : "") + "\n";
}

LabTrace write_lab_trace(std::ostream& out, LabPlace const& place,
                         std::span<std::pair<std::string, lab::Observation> const> seen) {
  LabTrace written;
  TraceText text(out);
  text.notes({{"device", device_text(place.device)}, {"stream 0", place.flavour}});
  std::uint32_t process = 0;
  for (auto const& [name, observation] : seen) {
    text.name_process(++process, name + (observation.verdict.as_expected ? "" : ", NOT as expected"));
    std::vector<std::string> rows;
    for (lab::Interval const& interval : lab::with_engines(observation.intervals)) {
      auto found = std::find(rows.begin(), rows.end(), interval.row);
      if (found == rows.end()) {
        found = rows.insert(rows.end(), interval.row);
        text.name_row(process, static_cast<std::uint32_t>(rows.size()), interval.row);
      }
      auto const row = static_cast<std::uint32_t>(found - rows.begin() + 1);
      text.slice(process, row, interval.start.count(), interval.end.count(), "lab", interval.label);
      ++written.pieces;
    }
    written.rows += rows.size();
  }
  text.finish();
  return written;
}

}  // namespace PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// The usual columns, or those of a narrower terminal.
std::size_t columns_of_output() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_columns;
  return std::clamp<std::size_t>(size.ws_col, lab::narrowest, usual_columns);
}

}  // namespace

void LabCommand::add_to(CLI::App& command) {
  std::string all;
  for (auto const& experiment : lab::all_experiments()) all += " " + std::string(experiment.name);
  constexpr std::size_t columns_of_help = 50;
  auto listed = wrapped(all, 0, columns_of_help);
  listed.pop_back();
  command.add_option("NAME", names, "Experiments to run. Default: all, which are\n" + listed)->check(offers(all));
  command
      .add_option("--device", device,
                  "What to experiment on: auto, cpu, cuda, cuda:N or model:NAME. Two with a comma are\n"
                  "for `collective` and `legacy-elsewhere`, which take another of the same kind if one\n"
                  "is named")
      ->type_name("NAME")
      ->check(offers(one_device_words));
  slower.add_to(command);
  auto& listing = *command.add_flag("--list", list, "Say which experiments there are, and run none");
  auto& sources =
      *command.add_flag("--source", source, "Print the programs that show the same, and run none")->excludes(&listing);
  for (auto* const one : figures.add_to(command, "Print JSON, an object a line for each experiment", "each figure"))
    one->excludes(&listing)->excludes(&sources);
  command.add_option("--trace", trace, "Also write a trace of what ran when to this file, for Perfetto or Chrome")
      ->type_name("FILE")
      ->check(names_an_output())
      ->excludes(&listing)
      ->excludes(&sources);
}

std::vector<lab::Experiment> LabCommand::chosen() const {
  auto all = lab::all_experiments();
  if (names.empty()) return all;
  std::vector<lab::Experiment> experiments;
  for (std::string const& name : names) {
    auto const found = std::find_if(all.begin(), all.end(), [&](auto const& one) { return one.name == name; });
    if (found == all.end()) {
      std::vector<std::string> known(all.size());
      std::ranges::transform(all, known.begin(), [](auto const& one) { return std::string(one.name); });
      std::string const nearest = nearest_to(name, known);
      throw Error(ErrorKind::bad_argument, "There is no experiment '" + name + "'" +
                                               (nearest.empty() ? "" : ": did you mean " + nearest + "?") +
                                               " (penstock lab --list shows which there are)");
    }
    experiments.push_back(*found);
  }
  return experiments;
}

ExitCode LabCommand::print_sources(StandardOutput& output) const {
  std::vector<std::string_view> printed;  // Several experiments may have one program.
  for (auto const& experiment : chosen()) {
    for (lab::SourceFile const& file : lab::sources_of(experiment.name)) {
      if (std::ranges::find(printed, file.path) != printed.end()) continue;
      std::string text = printed.empty() ? "" : "\n";
      printed.push_back(file.path);
      text.append("// ").append(file.path).append("\n").append(file.text);
      if (!output.write(text)) return exit_some_failed;
    }
  }
  return exit_ok;
}

ExitCode LabCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  if (source) return print_sources(output);
  auto const experiments = chosen();
  auto const columns = columns_of_output();
  if (list) {
    for (auto const& experiment : experiments) output.write(as_text(experiment, columns));
    return exit_ok;
  }
  FilesToWrite files({}, std::vector<NamedFile>{{"--trace", trace}, figures.page()}, interrupt.token());
  auto const wants_two = std::ranges::any_of(experiments, [](auto const& one) { return one.devices > 1; });
  Devices const opened = open_laboratory(paced_laboratory(slower.applied_to(device), interrupt.token()), wants_two);
  LabPlace const place{opened.front().info(), std::string(flavour_name(opened.front().flavour()))};
  if (!figures.as_data() && !output.write(as_text(place))) return exit_some_failed;
  DeviceGroup const& used = opened;
  std::size_t as_expected = 0, not_told = 0;
  std::string late;
  std::vector<std::pair<std::string, lab::Observation>> all_seen;
  BenchFacts facts = facts_here(opened, opened.front().flavour(), built_with_cuda(), command_line);
  facts.device = place.device;
  LabRecord record(std::move(facts));
  for (auto const& experiment : experiments) {
    if (experiment.devices > opened.size()) {
      std::string const remedy = std::string(experiment.name) +
                                 " takes two devices, and here is one: name two, as in "
                                 "--device cuda:0,cuda:1 or model:h200,model:h200.";
      if (!names.empty()) throw Error(ErrorKind::bad_argument, remedy);
      tell(remedy);
      continue;
    }
    auto seen = observe(opened, experiment);
    std::string late_here;
    for (Device* const one : used.all()) keep_too_slow(one->remarks(), late_here);
    lab::Verdict& verdict = seen.verdict;
    if (!late_here.empty()) verdict = by_late_clock(std::move(verdict));
    if (late.empty()) late = late_here;
    if (interrupt.requested()) {
      tell("Interrupted: the rest was not tried.");
      return exit_interrupted;
    }
    std::string const object = as_json(place, experiment, seen), lines = record.add(experiment, seen, object);
    if (!output.write(figures.json ? object : figures.csv ? lines : "\n" + as_text(experiment, seen, columns)))
      return exit_some_failed;
    // One that is as expected counts, also where a part of it was late.
    if (verdict.as_expected) {
      ++as_expected;
    } else if (verdict.late) {
      ++not_told;
    }
    all_seen.emplace_back(experiment.name, std::move(seen));
  }
  if (!late.empty()) tell(late);
  if (OutputFile* const file = files.of("--trace"); file != nullptr) {
    LabTrace written;
    write_trace_file(*file, [&](std::ostream& out) { written = write_lab_trace(out, place, all_seen); });
    tell(trace + " shows " + std::to_string(written.pieces) + " pieces of work in " + std::to_string(written.rows) +
         " rows.");
  }
  std::string const summary = summary_text(as_expected, all_seen.size(), not_told);
  if (OutputFile* const page = files.of("--html"); page != nullptr)
    write_page(*page, record.results(summary), title_of("lab"));
  if (!figures.as_data()) output.write("\n" + summary);
  return as_expected == all_seen.size() ? exit_ok : exit_some_failed;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
