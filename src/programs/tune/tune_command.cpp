// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/tune_command.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <ostream>

#include "engine/core/number_text.hpp"
#include "engine/core/too_slow.hpp"
#include "engine/core/words.hpp"
#include "engine/machine/topology.hpp"
#include "engine/plan/spin_room.hpp"
#include "penstock/error.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/observe/recording.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/completion.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/program.hpp"
#include "programs/command/progress.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/job_profile.hpp"
#include "programs/measure/judged_run.hpp"
#include "programs/measure/pace.hpp"
#include "programs/measure/pace_probe.hpp"
#include "programs/measure/size_remark.hpp"
#include "programs/measure/sweep_arguments.hpp"
#include "programs/measure/traced_run.hpp"
#include "programs/measure/trial.hpp"
#include "programs/page/results_page.hpp"
#include "programs/tune/tune.hpp"
#include "programs/tune/tune_output.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// A quarter of the available memory, up to what people would give a pipeline without being asked.
std::uint64_t safe_bytes(HostLimits const& host) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  std::uint64_t const free = std::min(host.memory_available_bytes, host.cgroup_memory_left_bytes.value_or(most * 4));
  return free == 0 ? most : std::min(most, free / 4);
}

/// Judges the best by one more short run. If that fails, one sentence says so: the result is as good without it.
void judge_best(DeviceGroup const& devices, measure::TuneOptions const& options, measure::Tuned& tuned,
                std::stop_token const& stop) {
  // A search for latency does not ask what bounds throughput.
  if (!tuned.best || tuned.sought == Aim::latency || stop.stop_requested()) return;
  try {
    auto run = judged_run(devices, tuned.tried[*tuned.best].point.setting, {.cpus = options.bounds.cpus}, stop);
    if (run) tuned.verdict = std::move(run->verdict);
  } catch (std::exception const& error) {
    tell("What bounds the best settings is not known: " + complaint_about(error).sentence);
  }
}

/// For a job of the user's: a sentence, if the best gives other results than the defaults; else empty.
std::string other_results(DeviceGroup const& devices, measure::Tuned const& tuned, std::stop_token const& stop) {
  if (!tuned.best || tuned.best == std::size_t{0} || !tuned.tried.front().error.empty()) return "";
  auto const digest = [&](std::size_t at) { return digest_of(devices, tuned.tried[at].point.setting, {}, stop); };
  auto const usual = digest(0), best = usual ? digest(*tuned.best) : std::nullopt;
  if (!best || best == usual) return "";
  return "The best settings give other results than the defaults: their digest is " + measure::digest_text(*best) +
         " instead of " + measure::digest_text(*usual) + ". So nothing was saved.";
}

/// Returns: what the file refused it with; null if it is saved.
std::exception_ptr save_to(OutputFile& file, std::string const& profile) {
  try {
    file.write("the profile", [&](std::ostream& out) { out << profile; });
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

void TuneCommand::add_to(CLI::App& command) {
  std::map<std::string, std::string> free;
  for (OptionRow const& row : option_table()) {
    if (row.in(named_in::searches)) free.emplace(row.name, measure::free_axis);
  }
  // This comes before the axis of that name: it bounds all settings.
  command
      .add_option(
          "--memory", memory,
          "The most pinned memory that the tiles of a setting take in all. Default: 1GiB, or a quarter of what\n"
          "is free")
      ->type_name("SIZE");
  lists.add_to(command, free);
  command
      .add_option("--for", sought,
                  "What the best has: throughput (most bytes a second), latency (the least within which 99 tiles of "
                  "100 are through).\nDefault: throughput")
      ->type_name("NAME")
      ->check(offers(words_for(all_aims)));
  command
      .add_option(
          "--load", load,
          "For latency: part of the defaults' throughput at which tiles come, to all settings alike. Default: " +
              formatted("%.1f", measure::SweepOptions::usual_load))
      ->type_name("PART")
      ->check(number_between(0, 1, "a part"));
  command.parse_complete_callback([this, &command] { choose_lists(command); });
  command
      .add_option(
          "--device", device,
          "auto, cpu, cuda, cuda:N, model:NAME, several of them with commas, or all: every GPU, if there is one")
      ->type_name("NAME")
      ->check(offers(device_words));
  slower.add_to(command);
  lists.add_plain_to(command);
  command.add_option("--within", within, "Seconds that it may take. Default: 60")
      ->type_name("SECONDS")
      ->check(number_between(0, 3600, "a number of seconds"));
  profile.add_to(command, "Settings that tune --save wrote: its job, for what is not named here, and where to start",
                 [this, &command](Profile const& taken) {
                   for (auto const& [axis, value] : profiled(taken)) {
                     if (measure::is_job(axis, parse_word(all_aims, sought, "aim")) && !is_named(command, axis))
                       lists.set(axis, value);
                   }
                 });
  command.add_option("--save", save, "Write the best settings to this file, for --profile")
      ->type_name("FILE")
      ->check(names_an_output());
  figures.add_to(command, "Print JSON, as docs/tune.md says", "each setting that was tried");
  trace.add_trace_to(command, "one more run with the best settings");
  command.footer(
      "SIZE is in bytes, or in KiB, MiB, GiB (1024-fold) or kB, MB, GB (1000-fold), and so are those in the LIST of "
      "--tile.\nLIST is 'free' for whatever may be worth trying, or a list to choose from as in 1,2,4, 1..4 or "
      "1..16*2; work, "
      "fill,\ndirection, streams and sink are the job, and have one value each; for latency so has tile. In the end "
      "it "
      "says what\nbounds the best, if that is of throughput.");
}

std::map<std::string, std::string> TuneCommand::profiled(Profile const& taken) const {
  return measure::axis_values(measure::Setting{.job = lists.job}.its_job(), taken, profile.path);
}

bool TuneCommand::for_latency() const {
  return sought == to_string(Aim::latency);
}

void TuneCommand::choose_lists(CLI::App const& command) {
  load_named = command.count("--load") > 0;
  std::string const& completion = lists.lists.at("run-to-completion");
  if (completion != "yes" && completion != "no") {
    throw Error(ErrorKind::bad_argument,
                "--run-to-completion " + completion +
                    ": other options depend on it, so tune takes yes or no; run it once for each.");
  }
  if (completion == "yes") {
    // The lanes are the producers then, and each has one tile.
    for (auto const* const axis : {"producers", "slots", "batch"}) {
      if (!is_named(command, axis)) lists.set(axis, "0");
    }
  }
  if (!for_latency()) return;
  // There are as many producers as filling takes; the user chooses the size of a tile, as for bench.
  for (auto const& [axis, list] : {std::pair{"producers", "0"}, std::pair{"tile", "1MiB"}, std::pair{"aim", "free"}}) {
    if (!is_named(command, axis)) lists.set(axis, list);
  }
}

std::string TuneCommand::paced(std::string const& wish, measure::Setting const& defaults,
                               std::stop_token const& stop) const {
  if (!wish.starts_with(measure::model_prefix)) return wish;
  bool const open = measure::leaves_factor_open(wish);
  SlowerOption here;
  if (open) here.factor = factor_for_defaults(wish, defaults, stop);
  std::string applied = here.applied_to(wish);
  tell(open ? measure::pace_text(here.factor, within) : "This takes about " + measure::about_text(within) + ".");
  return applied;
}

unsigned TuneCommand::factor_for_defaults(std::string const& wish, measure::Setting const& defaults,
                                          std::stop_token const& stop) const {
  measure::Point const first{.setting = defaults};
  unsigned factor = measure::choose_factor({&wish, 1}, {&first, 1}, stop).value_or(measure::least_factor);
  SweepArguments once;
  once.axes = lists;
  once.axes.devices = {wish};
  once.milliseconds = SweepArguments::milliseconds_on_models;
  measure::Setting const begin = lists.begin();
  for (measure::AxisKind const& axis : measure::axis_kinds(begin.its_job())) {
    std::string const name(axis.name);
    std::string& list = once.axes.lists.at(name);
    list = list == measure::free_axis ? axis.preset : measure::parse_axis(name, list, begin).values.front();
  }
  // A setting is tried for about as long as this run takes.
  double const longest = within / 12;
  for (;;) {
    once.axes.slower.factor = factor;
    ChildEnd const end = run_child(once.one_round(this_program(), once.axes, 1), stop);
    // What is wrong else the search will say.
    if (end.code != exit_ok || end.output.empty() || stop.stop_requested()) return factor;
    measure::SweepToCome const run{.runs = 1, .milliseconds = once.milliseconds, .factor = factor};
    auto const larger = measure::raised_factor(run, advised_factor(measure::lateness_in(end.output)), longest);
    if (!larger) return factor;
    factor = *larger;
  }
}

ExitCode TuneCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  measure::TuneOptions options{
      .sought = parse_word(all_aims, sought, "aim"), .load = load, .within = within, .begin = lists.begin()};
  if (load_named && options.sought == Aim::throughput) {
    throw Error(ErrorKind::bad_argument, "--load is for latency, which --for latency looks for.");
  }
  if (options.sought == Aim::latency && load == 0) {
    throw Error(ErrorKind::bad_argument, "--load 0: without tiles there is no latency; give a part above 0.");
  }
  if (profile.profile) {
    for (auto const& [axis, value] : profiled(*profile.profile)) options.known.emplace_back(axis, value);
  }
  for (measure::AxisKind const& axis : measure::axis_kinds(options.begin.its_job())) {
    std::string const name(axis.name);
    options.lists.emplace_back(name, lists.lists.at(name));
  }
  options.bounds.most_bytes = memory.empty() ? safe_bytes(HostLimits::read()) : parse_size(memory);
  // Files that cannot be read or written are reported at once.
  measure::Setting const defaults = measure::default_setting(options.lists, options.sought, options.begin);
  measure::Point first{.setting = defaults};
  if (lists.job == nullptr && lists.lists.at("tile") == measure::free_axis) first.setting.tile = sizeof(float);
  lists.check({&first, 1});
  trace.check();
  std::vector<NamedFile> read = lists.inputs();
  read.push_back({"--profile", profile.path, "--save"});
  std::vector<NamedFile> const own{{"--save", save}, figures.page(), trace.named()};
  std::vector<NamedFile> written = lists.outputs();
  written.insert(written.end(), own.begin(), own.end());
  expect_apart(read, written);
  FilesToWrite files(read, own, interrupt.token());
  lists.remark_on_sizes();
  say_size_remark("--memory", memory);
  Devices const devices = open_devices(paced(slower.applied_to(device), defaults, interrupt.token()));
  profile.warn(machine_here(devices));
  options.bounds.cpus = static_cast<unsigned>(threads_at_once(devices.front().info(), Topology::detect()));
  options.bounds.gpu = devices.front().info().acts_as_gpu();
  BenchFacts const facts = facts_here(devices, flavour(), built_with_cuda(), command_line);
  measure::Tuned tuned;
  {
    RunProgress progress(true);
    tuned = tune(devices, options, interrupt.token(),
                 [&](measure::TuneProgress const& now) { progress.draw(tune_line(now, within, terminal_width())); });
  }
  judge_best(devices, options, tuned, interrupt.token());
  std::string const wrong = lists.job != nullptr ? other_results(devices, tuned, interrupt.token()) : "";
  if (memory.empty()) tuned.beyond.reset();  // The user did not ask for less than the defaults.
  OutputFile* const profile_file = files.of("--save");
  bool const saves = tuned.best && !tuned.beyond && wrong.empty() && profile_file != nullptr && !interrupt.requested();
  std::exception_ptr const unsaved = saves ? save_to(*profile_file, profile_text(profile_of(facts, tuned))) : nullptr;
  bool const saved = saves && unsaved == nullptr;
  auto const data = [&] { return tuned_as_json(facts, tuned, saved ? save : ""); };
  std::string text = figures.json ? data() : figures.csv ? csv_of(rows_of(facts, tuned)) : tuned_as_text(facts, tuned);
  if (saved && !figures.as_data()) {
    text += "saved as " + save + "; " + (lists.job != nullptr ? "run" : "penstock hash") +
            ", bench and compare take it with --profile\n";
  }
  if (!output.write(text)) return exit_some_failed;
  if (OutputFile* const page = files.of("--html"); page != nullptr)
    write_page(*page, with_lines(data(), rows_of(facts, tuned), sentences_on(tuned)), title_of("tune"));
  // The results are printed even if the disk has no room for the profile.
  if (unsaved != nullptr) std::rethrow_exception(unsaved);
  if (interrupt.requested()) {
    tell(std::string("Interrupted: what was tried until then is above") +
         (save.empty() ? "." : ", and no profile was saved."));
    return exit_interrupted;
  }
  if (!tuned.best) {
    throw Error(ErrorKind::device_refused, "No setting of this job could be measured; of the first, it was said: " +
                                               (tuned.tried.empty() ? "nothing" : tuned.tried.front().error));
  }
  if (!trace.file.empty()) {
    write_traced_run(
        trace, *files.of("--trace"),
        {.process = title_of("tune"), .facts = {{"device", device_text(facts.device)}, {"command", facts.command}}},
        devices, tuned.tried[*tuned.best].point.setting, {}, interrupt.token());
  }
  if (!wrong.empty()) {
    tell(wrong);
    return exit_some_failed;
  }
  if (!tuned.beyond) return exit_ok;
  tell(beyond_text(tuned, memory, !save.empty()));
  return exit_some_failed;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
