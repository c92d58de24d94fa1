// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/run_command.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/core/number_text.hpp"
#include "observe/option_members.hpp"
#include "observe/report_json.hpp"
#include "penstock/error.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/observe.hpp"
#include "programs/command/completion.hpp"
#include "programs/command/config_file.hpp"
#include "programs/command/program.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/job_profile.hpp"
#include "programs/measure/size_remark.hpp"
#include "programs/measure/sweep_arguments.hpp"
#include "programs/measure/trial.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using Json = nlohmann::ordered_json;

double seconds_of(Report const& report) {
  return std::chrono::duration<double>(report.wall).count();
}

/// A text with the run's report, items, digest and remarks, and first the device if it is a model.
std::string about(Job const& job, measure::JobRun const& whole, DeviceInfo const& device) {
  std::string text = (device.modelled ? "on a " + device_text(device) + "\n" : "") + describe(whole.report) + "\n";
  if (job.items) {
    text += count_text(whole.items, job.item) + ", " +
            short_number(static_cast<double>(whole.items) / seconds_of(whole.report)) + " a second\n";
  }
  if (whole.digest) text += "digest of the results " + measure::digest_text(*whole.digest) + "\n";
  for (std::string const& remark : whole.report.remarks) text += remark + "\n";
  return text;
}

std::string as_json(BenchFacts const& facts, Job const& job, JobPoint const& point, measure::JobRun const& whole,
                    std::optional<Recording> const& recording) {
  Report const& report = whole.report;
  Json options = Json::object();
  for (JobOption const& option : job.options) {
    options[option.name] =
        option.several ? Json(point.values.texts(option.name)) : Json(point.values.text(option.name));
  }
  Json json{{"schema", 1}, {"kind", "run"}};
  json.update(as_members(facts));
  json.update(Json{{"options", options}, {"tile_bytes", point.tile_bytes}});
  json.update(count_members(report));
  json.update(Json{{"item", job.items ? Json(job.item) : Json(nullptr)},
                   {"items", job.items ? Json(whole.items) : Json(nullptr)},
                   {"digest", whole.digest ? Json(measure::digest_text(*whole.digest)) : Json(nullptr)},
                   {"results", or_null(whole.results)},
                   {"spans", recording ? as_list(span_times(*recording)) : Json(nullptr)}});
  json.update(outcome_members(report));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The figures of as_json in a row, as csv_of takes it, and the job's own options behind them.
Json row_of(BenchFacts const& facts, Job const& job, JobPoint const& point, measure::JobRun const& whole) {
  Report const& report = whole.report;
  double const seconds = seconds_of(report);
  Json row;
  row["tile_bytes"] = point.tile_bytes;
  row.update(count_members(report));
  row.update(
      Json{{"gb_per_s", seconds > 0 ? Json(static_cast<double>(report.bytes_in) / 1e9 / seconds) : Json(nullptr)},
           {"items", job.items ? Json(whole.items) : Json(nullptr)},
           {"digest", whole.digest ? Json(measure::digest_text(*whole.digest)) : Json(nullptr)},
           {"bound", report.verdict ? Json(bound_name(report.verdict->bound)) : Json(nullptr)},
           {"device_name", device_text(facts.device)},
           {"host", facts.host.hostname},
           {"version", facts.version},
           {"commit", or_null(facts.commit)},
           {"flavour", flavour_name(facts.flavour)},
           {"date", facts.date}});
  for (JobOption const& option : job.options) {
    std::string list;
    for (std::string const& value : point.values.texts(option.name)) list += (list.empty() ? "" : " ") + value;
    std::string const name = row.contains(option.name) ? "option_" + option.name : option.name;
    row[name] = option.several ? list : point.values.text(option.name);
  }
  return row;
}

bool lost(Report const& report) {
  for (DeviceSummary const& device : report.devices) {
    if (!device.loss.empty()) return true;
  }
  return false;
}

}  // namespace

void RunCommand::add_to(CLI::App& command) {
  add_settings_to(command);
  figures.add_to(command, "Print JSON, as docs/jobs.md says", "the run, instead of its results");
  command.add_flag("--strict", strict, "End with code 1 also if input was read that could not be used");
  trace.add_to(command, "the run");
  live.add_to(command);
  if (job.parts) {
    auto* const leases =
        command.add_option("--ledger", ledger, "Share the input with other processes, and go on if stopped");
    leases->type_name("FILE");
    command
        .add_option("--workers", workers,
                    "Run in so many processes, each with a GPU of its own, and replace one that fails")
        ->type_name("N")
        ->check(whole_number(1, 1024))
        ->needs(leases);
    command.add_option("--lease", lease, "How much of the input a lease has, as 16MiB. Default: 64MiB")
        ->type_name("SIZE")
        ->check(CLI::Validator(
            [](std::string const& size) {
              try {
                return parse_size(size) == 0 ? std::string("a lease has at least a byte") : std::string();
              } catch (Error const& error) {
                return std::string(error.what());
              }
            },
            ""))
        ->needs(leases);
    command.add_flag("--as-worker", as_worker)->group("");
  }
  add_config_to(command, config);
}

void RunCommand::add_settings_to(CLI::App& command) {
  pipeline.add_to(command, "as the job takes it. Default: " + job.tile);
  for (JobOption const& option : job.options) {
    add_own_option(command, option, values[option.name])
        ->type_name(option.listed ? "VALUE" : option.type)
        ->check(offers(option.offered));
  }
}

measure::Setting RunCommand::setting() const {
  measure::Setting setting{.pipeline = pipeline.options(), .job = &job};
  measure::set(setting, "tile", pipeline.tile_text().empty() ? job.tile : pipeline.tile_text());
  for (JobOption const& option : job.options) measure::set_own(setting, option, values.at(option.name));
  if (pipeline.profile.profile) {
    for (auto const& [name, value] : measure::own_values(job, *pipeline.profile.profile, pipeline.profile.path)) {
      if (!setting.values.has(name)) measure::set(setting, name, value);
    }
  }
  // Several threads may call such a sink, and a tile that goes to another thread has left its CPU's caches.
  if (setting.pipeline.tuning.run_to_completion && job.parallel_sink && !job.ordered)
    setting.pipeline.tuning.sink_on_lanes = true;
  setting.expect_required();
  static_cast<void>(setting.options());
  if (job.check) job.check(setting.point());
  return setting;
}

std::vector<NamedFile> RunCommand::inputs() const {
  std::vector<NamedFile> files = named_by(&JobOption::names_input);
  files.push_back({"--profile", pipeline.profile.path});
  files.push_back({"--config", config});
  return files;
}

std::vector<NamedFile> RunCommand::outputs() const {
  return named_by(&JobOption::names_output);
}

std::vector<NamedFile> RunCommand::named_by(bool JobOption::*kind) const {
  std::vector<NamedFile> files;
  for (JobOption const& option : job.options) {
    if (!(option.*kind)) continue;
    auto const& named = values.at(option.name);
    if (named.empty()) files.push_back({"--" + option.name, option.preset});
    for (std::string const& path : named) files.push_back({"--" + option.name, path});
  }
  return files;
}

measure::Setting RunCommand::checked_setting() const {
  measure::Setting wanted = setting();
  for (char const* const option : as_worker ? std::vector<char const*>() : std::vector{"tile", "memory"})
    say_size_remark("--" + std::string(option), pipeline.values.at(option));
  trace.check();
  return wanted;
}

ExitCode RunCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  if (!ledger.empty()) return run_shared(output, interrupt);
  measure::Setting const wanted = checked_setting();
  JobPoint const point = wanted.point();
  auto written = outputs();
  written.push_back(trace.named());
  written.push_back(figures.page());
  expect_apart(inputs(), written);
  FilesToWrite files(inputs(), std::span(written).last(2), interrupt.token());
  LiveRun told_of(live, figures.as_data());
  Devices const devices = open_devices(pipeline.wish());
  pipeline.profile.warn(machine_here(devices));
  BenchFacts const facts = facts_here(devices, flavour(), built_with_cuda(), command_line);
  auto const recorder = trace.file.empty() ? nullptr : trace.recorder();
  auto const activities = trace.activity_log(recorder.get());
  auto const ranges = trace.nvtx_ranges();
  measure::TrialOptions options;
  options.recorder = recorder.get();
  options.beside = [&](Pipeline const& runs, Source const& source, JobWork const& work) {
    return told_of.begin(runs, source, work, interrupt);
  };
  options.ranges = activities != nullptr ? activities.get() : ranges.get();
  if (!figures.as_data()) options.print = [&output](std::string const& lines) { output.write(lines); };
  Ran ran{.point = point, .facts = facts, .whole = run_whole(devices, wanted, options, interrupt.token())};
  if (ran.whole.report.verdict != nullptr)
    ran.whole.report.verdict = std::make_shared<Verdict const>(in_options(*ran.whole.report.verdict));
  if (activities != nullptr) activities->finish();
  if (recorder != nullptr) ran.recording = recorder->take();
  ran.trace = files.of("--trace");
  ran.page = files.of("--html");
  return conclude(ran, output, interrupt);
}

ExitCode RunCommand::conclude(Ran const& ran, StandardOutput& output, Interrupt const& interrupt) const {
  auto const& [point, facts, whole, is_all, recording, trace_file, page] = ran;
  Report const& report = whole.report;
  auto const row = [&] { return std::vector{row_of(ran.facts, job, ran.point, ran.whole)}; };
  bool const told = output.write(figures.json  ? as_json(facts, job, point, whole, recording)
                                 : figures.csv ? csv_of(row())
                                               : whole.results);
  if (!figures.json) std::fputs(about(job, whole, facts.device).c_str(), stderr);
  if (trace_file != nullptr && told && !interrupt.requested()) {
    write_trace_file(
        *trace_file, *recording,
        {.process = title_of("run"), .facts = {{"device", device_text(facts.device)}, {"command", command_line}}});
    tell(traced_text(trace.file, *recording, report.wall));
  }
  if (page != nullptr && told)
    write_page(*page, with_lines(as_json(facts, job, point, whole, recording), row(), report.remarks), title_of("run"));
  if (interrupt.requested() && !is_all) {
    tell("Interrupted: results are of what was done until then.");
    return exit_interrupted;
  }
  if (lost(report)) return exit_device;
  bool const complete = !strict || report.left_out.empty();
  return told && report.ok() && complete ? exit_ok : exit_some_failed;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
